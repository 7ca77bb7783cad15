package runcmd

import (
	"encoding/json"
	"os"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
)

// report is the account of a run.
type report struct {
	Attempts  int       `json:"attempts"`
	Exit      int       `json:"exit"`
	OK        bool      `json:"ok"`
	Reason    string    `json:"reason"`
	Elapsed   float64   `json:"elapsed_ms"`
	Exits     []int     `json:"exits"`
	Waits     []float64 `json:"waits_ms"`
	Durations []float64 `json:"durations_ms"`
}

func (r *report) add(one *result) {
	r.Attempts++
	r.Exits = append(r.Exits, one.code)
	r.Durations = append(r.Durations, *millis(one.duration))
}

// write writes it to a file, or to standard output for "-".
func (r *report) write(to string, std *frame.IO) error {
	if to == "" {
		return nil
	}
	text, _ := json.Marshal(r)
	text = append(text, '\n')
	if to == "-" {
		_, err := std.Stdout.Write(text)
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
