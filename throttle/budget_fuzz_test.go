package throttle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/throttle"
)

// FuzzRatioBudget compares with a list of everything that ever happened, of which what is older than ten slots is left out. Each
// byte of program is a deposit, a charge or a look, or lets up to three slots pass.
func FuzzRatioBudget(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add([]byte{0, 0, 0, 1, 1, 1, 200, 1, 255, 1}, uint16(200), uint16(100), int64(time.Second))
	f.Add([]byte{1, 1, 250, 250, 250, 250, 1, 1, 2, 0, 0, 0, 0, 1, 1}, uint16(500), uint16(0), int64(10))
	f.Add([]byte{0, 1, 128, 0, 1}, uint16(0), uint16(2000), int64(7*time.Hour+1))
	f.Fuzz(func(t *testing.T, program []byte, permille, perMinute uint16, ttl int64) {
		b := &throttle.RatioBudget{Ratio: float64(permille) / 1000, MinPerSecond: float64(perMinute) / 60, TTL: time.Duration(ttl)}
		deposit, withdrawal := int64(1000), int64(1)
		if permille == 0 {
			b.Ratio, deposit = -1, 0
		} else {
			withdrawal = 1_000_000 / int64(permille) // floor(1000/Ratio), in whole numbers
		}
		if perMinute == 0 {
			b.MinPerSecond = -1
		}
		if ttl < 10 || ttl > int64(time.Hour) {
			ttl = int64(10 * time.Second)
			b.TTL = 0
		}
		reserve := int64(b.MinPerSecond*time.Duration(ttl).Seconds()*float64(withdrawal) + 1e-6)
		reserve = max(reserve, 0)

		slot, passed := time.Duration(ttl/10), time.Duration(0)
		type event struct{ slot, amount int64 }
		var events []event
		for _, op := range program {
			now := t0.Add(passed)
			current, balance := int64(passed/slot), reserve
			for _, e := range events {
				if e.slot > current-10 {
					balance += e.amount
				}
			}
			switch {
			case len(events) == 0: // the window begins with the first use
				b.Balance(t0)
				events = append(events, event{0, 0})
			case op >= 64:
				passed += time.Duration(op-64) * slot / 64
			case op%3 == 0:
				b.Settle(now, true, 0)
				events = append(events, event{current, deposit})
			case op%3 == 1:
				_, ok := b.Charge(now, throttle.Transient, 0, false)
				require.Equal(t, balance >= withdrawal, ok)
				if ok {
					events = append(events, event{current, -withdrawal})
				}
			default:
				require.EqualValues(t, max(balance, 0)/withdrawal, b.Balance(now))
			}
		}
	})
}
