package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/scenario"
	"github.com/seed-89b3229b/retry/retrysim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestReady: what each ready-made scenario says of itself is true, with more than one seed, and it is quick: at a million attempts a
// second, none takes two seconds.
func TestReady(t *testing.T) {
	for _, name := range scenario.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := scenario.Load(name)
			require.NoError(t, err)
			require.Equal(t, name, f.Scenario.Name)
			require.NotEmpty(t, f.About)
			require.NotEmpty(t, f.Assert)
			for seed := range uint64(2) {
				if f.Map != nil {
					m, err := retrysim.Stability(t.Context(), f.Scenario, f.Map.Loads, f.Map.Outages, seed+1, 1, nil, f.Contenders()...)
					require.NoError(t, err)
					for _, a := range f.Assert {
						require.Empty(t, a.CheckMap(m))
					}
					continue
				}
				r, err := retrysim.Run(t.Context(), f.Scenario, seed+1, max(f.Trials, 1), f.Contenders()...)
				require.NoError(t, err)
				for _, a := range f.Assert {
					require.Empty(t, a.Check(r))
				}
				attempts := 0
				for _, one := range r.Results {
					attempts += one.Attempts
				}
				require.Less(t, attempts, 1_000_000)
			}
		})
	}
}

func TestNames(t *testing.T) {
	require.Equal(t, []string{"brownout", "chance", "closed-v-open", "fleet", "herd", "layers", "occ", "outage", "quota", "ramp", "spike", "stability"}, scenario.Names())
	_, ok := scenario.Source("../ready/occ")
	require.False(t, ok)
}
