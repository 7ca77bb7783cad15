//go:build unix

package runcmd

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is the process group of an attempt, or, in the foreground, the command alone: a group in the background that reads
// the terminal would be stopped.
type group struct {
	foreground bool
	pid        int // of the command; below 0: of its group
}

// prepare is called before the command starts, and started after it.
func (g *group) prepare(cmd *exec.Cmd) {
	if !g.foreground {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
}

func (g *group) started(p *os.Process) error {
	if g.pid = p.Pid; !g.foreground {
		g.pid = -p.Pid
	}
	return nil
}

// forward passes a signal on. That nobody is left to get it is no error here.
func (g *group) forward(s os.Signal) { _ = unix.Kill(g.pid, s.(syscall.Signal)) }

// end asks the group to end.
func (g *group) end(signal int) {
	_ = unix.Kill(g.pid, syscall.Signal(signal))
	g.resume()
}

// resume lets the group hear of a signal if it is stopped.
func (g *group) resume() { _ = unix.Kill(g.pid, unix.SIGCONT) }

func (g *group) kill() { _ = unix.Kill(g.pid, unix.SIGKILL) }

// over is called when the command has ended. What is left of its group is killed, unless it is to stay: a daemon may have
// been the purpose.
func (g *group) over(stays bool) {
	if !stays && !g.foreground {
		g.kill()
	}
}

// ended is how a process ended: its exit status and, if it died of one, the signal.
func ended(p *os.ProcessState) (code, signal int) {
	if ws := p.Sys().(syscall.WaitStatus); ws.Signaled() {
		return codeSignal + int(ws.Signal()), int(ws.Signal())
	}
	return p.ExitCode(), 0
}
