package runcmd

import (
	"bufio"
	"io"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// headerBytes is how much of the file is read.
const headerBytes = 1 << 20

// headerFile is the file where a command puts the headers of the answer that it got.
type headerFile struct{ path string }

func newHeaderFile() (*headerFile, error) {
	f, err := os.CreateTemp("", "retry-headers-*") // for this user alone
	if err != nil {
		return nil, err
	}
	return &headerFile{f.Name()}, f.Close()
}

func (h *headerFile) clear() error { return os.WriteFile(h.path, nil, 0o600) }

func (h *headerFile) remove() { _ = os.Remove(h.path) }

// read returns what the headers say about waiting. Of several answers, such as after redirects, the last counts. Without a
// status line, the answer is taken for one that asks for a wait.
func (h *headerFile) read(now time.Time) (s throttle.Signal) {
	f, err := os.Open(h.path)
	if err != nil {
		return s
	}
	defer func() { _ = f.Close() }()
	status, header := 429, map[string][]string{}
	lines := bufio.NewScanner(io.LimitReader(f, headerBytes))
	lines.Buffer(nil, headerBytes)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if version, rest, ok := strings.Cut(text, " "); ok && strings.HasPrefix(version, "HTTP/") {
			clear(header)
			if n, err := strconv.Atoi(strings.TrimSpace(rest)[:min(3, len(strings.TrimSpace(rest)))]); err == nil {
				status = n
			}
			continue
		}
		if name, value, ok := strings.Cut(text, ":"); ok {
			key := textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
			header[key] = append(header[key], strings.TrimSpace(value))
		}
	}
	s, _ = hint.Standard().Parse(header, status, now)
	return s
}
