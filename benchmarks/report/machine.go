package report

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Machine says where and when something was measured, and how busy the machine was at that time, if that can be had.
func Machine(now time.Time) string {
	s := fmt.Sprintf("%s, %d cores, %s/%s, %s, %s", cpu(), runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, runtime.Version(), now.UTC().Format(time.DateOnly))
	if load := Load(); load != "" {
		s += ", load average before the run " + load
	}
	return s
}

// Load is the load average of the last minute, "" if it cannot be had.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	load, _, _ := strings.Cut(string(text), " ")
	return load
}

func cpu() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
