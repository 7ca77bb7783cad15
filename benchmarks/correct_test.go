package benchmarks_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/benchmarks/correct"
	"github.com/seed-89b3229b/retry/benchmarks/library"
)

// verdicts are what was found with these versions: the cases that are wrong, and those that are about something that the
// library does not have. All others are right. A new version of a peer that does better fails here, and is to be entered.
var verdicts = []struct{ module, version, wrong, absent string }{
	{"github.com/seed-89b3229b/retry", "this tree", "", ""},
	{"github.com/cenkalti/backoff/v4", "v4.3.0", "P03 P04 P05 P06 P07 P07a P08 P10 P13 P22", "P02 P19 P21 P37 ctx"},
	{"github.com/cenkalti/backoff/v5", "v5.0.3", "P03 P04 P05 P06 P07 P07b P08 P10 P13 P21 P22", "P02 P30 P37 ctx"},
	{"github.com/cenkalti/backoff/v7", "v7.0.3", "P04 P07b P08 P10 P13 P22", "P02 P30 P37 ctx"},
	{"github.com/avast/retry-go/v4", "v4.7.0", "P02 P03 P07b P09 P10 P23 P30", "P19 P37 P44 ctx"},
	{"github.com/avast/retry-go/v5", "v5.1.1", "P03 P07b P09 P10 P23 P30", "P19 P37 P44 ctx"},
	{"github.com/sethvargo/go-retry", "v0.5.0", "P06 P07 P07b P10 P22", "P19 P21 P23 P30 P37"},
	{"github.com/failsafe-go/failsafe-go", "v0.9.8", "P01 P04 P05 P06 P07 P07a P08 P10 P16 P19 P44", "P02 P30"},
	{"github.com/codeGROOVE-dev/retry", "v1.2.0", "P07b P10 P13 P30", "P19 P37 P44 ctx"},
	{"github.com/eapache/go-resiliency", "v1.7.0", "P01 P04 P05 P06 P07 P07a P08 P09 P10", "P02 P19 P21 P23 P30 P37 P44"},
}

// overflows are the cases in which a library converts a number that does not fit.
const overflows = "P01 P02 P05"

func TestVerdicts(t *testing.T) {
	libraries := library.All()
	require.Len(t, libraries, len(verdicts))
	for i, want := range verdicts {
		l := libraries[i]
		t.Run(l.Name, func(t *testing.T) {
			require.Equal(t, want.module, l.Module)
			require.Equal(t, want.version, l.Version(), "another version: look at each verdict, and enter what has changed")
			for _, c := range correct.Cases {
				t.Run(c.ID, func(t *testing.T) {
					if c.ID == "P22" && raceEnabled && strings.Contains(want.wrong, c.ID) {
						t.Skip("sharing what must not be shared is a data race")
					}
					if runtime.GOARCH != "amd64" && listed(overflows, c.ID) && listed(want.wrong, c.ID) {
						t.Skip("what becomes of a number that does not fit depends on the machine")
					}
					answer := correct.Right
					if listed(want.wrong, c.ID) {
						answer = correct.Wrong
					} else if listed(want.absent, c.ID) {
						answer = correct.Absent
					}
					got := c.Judge(t, l)
					require.Equal(t, answer.String(), got.Answer.String(), "%s %s: %s. %s", l.Module, want.version, c.Asks, got.Seen)
					assert.Equal(t, got.Answer == correct.Wrong, got.Seen != "", "a wrong answer, and no other, says what was seen")
				})
			}
		})
	}
}

func listed(ids, id string) bool { return slices.Contains(strings.Fields(ids), id) }

// TestVerdictsAreAboutCases finds ids that name no case.
func TestVerdictsAreAboutCases(t *testing.T) {
	known := map[string]bool{}
	for _, c := range correct.Cases {
		require.False(t, known[c.ID], c.ID)
		known[c.ID] = true
		require.NotEmpty(t, c.Title)
		require.NotEmpty(t, c.Asks)
	}
	for _, v := range verdicts {
		for _, id := range strings.Fields(v.wrong + " " + v.absent) {
			require.True(t, known[id], "%s of %s", id, v.module)
		}
	}
}
