package runcmd

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a console process group, for CTRL_BREAK, and a job object, for what is left in the end. Children that the command
// makes before it is in the job are not in it.
type group struct {
	foreground bool
	pid        uint32
	job        windows.Handle
}

func (g *group) prepare(cmd *exec.Cmd) {
	if !g.foreground {
		cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	}
}

func (g *group) started(p *os.Process) (err error) {
	g.pid = uint32(p.Pid)
	if g.job, err = windows.CreateJobObject(nil, nil); err != nil {
		return err
	}
	if err = g.limit(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		return err
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, g.pid)
	if err != nil {
		return nil // it has ended already
	}
	defer func() { _ = windows.CloseHandle(h) }()
	return windows.AssignProcessToJobObject(g.job, h)
}

func (g *group) limit(flags uint32) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// forward passes ^C on, as what a process group can be sent.
func (g *group) forward(os.Signal) { g.end(0) }

func (g *group) end(int) { _ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.pid) }

func (g *group) resume() {}

func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

func (g *group) over(stays bool) {
	if g.job == 0 {
		return
	}
	if stays {
		_ = g.limit(0)
	}
	_ = windows.CloseHandle(g.job)
	g.job = 0
}

func ended(p *os.ProcessState) (code, signal int) { return p.ExitCode() & 0xff, 0 }
