package runcmd

import (
	"os"
	"os/signal"
)

const termSignal = 0

func listen(bool) chan os.Signal {
	c := make(chan os.Signal, 16)
	signal.Notify(c, os.Interrupt)
	return c
}

func isFatal(os.Signal) bool { return true }

func fromKeyboard(os.Signal, *os.File) bool { return true }

func pause(os.Signal) bool { return false }

// die: there is no death by a signal here; this is what a console program's status is after ^C (STATUS_CONTROL_C_EXIT).
func die(os.Signal) int { return -0x3ffffec6 }

func meant(int) bool { return false }

func signalNumber(string) int { return 0 }

func signalName(int) string { return "" }

func cannotFork(error) bool { return false }

func signalCode(os.Signal) int { return codeSignal + 2 }
