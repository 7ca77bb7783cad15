package main_test

import "os"

func status(p *os.ProcessState) int { return p.ExitCode() }
