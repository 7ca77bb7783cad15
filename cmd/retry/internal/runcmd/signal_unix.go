//go:build unix

package runcmd

import (
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// termSignal is what ends an attempt for lack of time.
const termSignal = int(unix.SIGTERM)

// fatal signals end the run, the others are passed on.
var fatal = []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT}

// listen begins to receive signals. Those that were ignored when retry started stay so, for retry and for the command: that is
// what nohup is for. In the foreground the terminal stops the command itself.
func listen(foreground bool) chan os.Signal {
	c := make(chan os.Signal, 16)
	wanted := append([]os.Signal{unix.SIGUSR1, unix.SIGUSR2}, fatal...)
	if !foreground {
		wanted = append(wanted, unix.SIGTSTP, unix.SIGCONT)
	}
	for _, s := range wanted {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return c
}

func isFatal(s os.Signal) bool { return slices.Contains(fatal, s) }

// fromKeyboard says that a signal has come to the command as well, because the terminal sends it to its whole foreground
// group. One from kill looks the same.
func fromKeyboard(s os.Signal, tty *os.File) bool {
	if s != unix.SIGINT && s != unix.SIGQUIT {
		return false
	}
	pgrp, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && pgrp == unix.Getpgrp()
}

// pause stops this process as TSTP would have done; it returns when the process is continued. resumed says that this is what
// happened to it.
func pause(s os.Signal) (stopped bool) {
	if s != unix.SIGTSTP {
		return false
	}
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	return true
}

// die ends this process by a signal, so that whoever started it sees that.
func die(s os.Signal) int {
	number := s.(syscall.Signal)
	signal.Reset(s)
	if number == unix.SIGQUIT { // which Go's runtime would answer with its goroutines
		none := unix.Rlimit{}
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &none)
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -QUIT $$"}, nil)
	}
	_ = unix.Kill(os.Getpid(), number)
	select {} // it comes to one of the threads, soon
}

// meant says that a command that died of the signal was to end: not an accident.
func meant(number int) bool { return isFatal(syscall.Signal(number)) }

// number of a signal's name in lower case, with or without "sig"; 0: none of that name.
func signalNumber(name string) int {
	name = strings.ToUpper(name)
	if !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	return int(unix.SignalNum(name))
}

func signalName(number int) string { return unix.SignalName(syscall.Signal(number)) }

// cannotFork says that it was not the command's fault that it could not be started.
func cannotFork(err error) bool {
	return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)
}

// signalCode is the exit status that a shell makes of death by a signal.
func signalCode(s os.Signal) int { return codeSignal + int(s.(syscall.Signal)) }
