//go:build unix

package main_test

import (
	"os"
	"syscall"
)

func status(p *os.ProcessState) int {
	if ws := p.Sys().(syscall.WaitStatus); ws.Signaled() {
		return -int(ws.Signal())
	}
	return p.ExitCode()
}
