package hint

import (
	"math"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// shouldRetry reads the servers' plain word on trying again. It is kept apart from the wait: no may come with a wait, and
// yes without.
func (m *message) shouldRetry(a *answer) {
	for _, f := range [...]field{shouldRetry, stripeShouldRetry} {
		for _, line := range m.field(f) {
			switch word := trim(line); {
			case strings.EqualFold(word, "false"):
				a.Retry = throttle.No
			case strings.EqualFold(word, "true") && a.Retry == throttle.Undecided:
				a.Retry = throttle.Yes
			}
		}
	}
}

// pushback reads gRPC's (proposal A6): a count of milliseconds in 32 bits, to be waited exactly, and the curve starts
// anew. Anything else there, and more than one value, forbids the retry. Nothing else counts beside it.
func (m *message) pushback(a *answer) {
	lines := m.lines[pushback]
	if len(lines) == 0 {
		return
	}
	n, ok := readSigned(trim(lines[0])) // Atoi in gRPC-Go, Integer.valueOf in gRPC-Java: with a plus sign too
	if ok && len(lines) == 1 && 0 <= n && n <= math.MaxInt32 {
		a.tell(wait{delay: time.Duration(n) * time.Millisecond, told: true, source: fieldNames[pushback], rule: throttle.Exact()})
		a.RestartCurve = true
		return
	}
	a.Retry, a.final = throttle.No, true
}
