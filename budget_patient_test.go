package retry_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// refusingSome is a budget that refuses every second charge, takes ten for the others, and writes down what it is told.
type refusingSome struct {
	charges int
	told    []string
}

func (b *refusingSome) Start(time.Time) { b.told = append(b.told, "start") }

func (b *refusingSome) Charge(_ time.Time, _ throttle.Class, held int, _ bool) (int, bool) {
	b.charges++
	b.told = append(b.told, fmt.Sprint("charge, holding ", held))
	if b.charges%2 == 0 {
		return held, false
	}
	return held + 10, true
}

func (b *refusingSome) Settle(_ time.Time, success bool, held int) {
	b.told = append(b.told, fmt.Sprint("settle ", success, ", holding ", held))
}

// A refusal that a supervision outlives is an end to its budget, which gets back nothing for it, and what comes then is a new
// call that holds nothing.
func TestSuperviseSettlesWhereABudgetRefuses(t *testing.T) {
	budget := &refusingSome{}
	_, err := svWaits(t, svTimes(3, svRan{0, errRec}), retry.WithBudget(budget))
	require.Same(t, errSvEnd, err)
	require.Equal(t, []string{
		"start", "charge, holding 0", "charge, holding 10", "settle false, holding 10",
		"start", "charge, holding 0", "settle false, holding 10",
	}, budget.told)
}
