// Package retrysim simulates what a retry policy does to a server, before an outage does. Its clients are the library's own: every
// call is a retry.Flow of the policy that the program runs, with its strategies, budgets, throttles and gates. Servers queue, slow
// down, limit and fail. Time is virtual: a minute of a thousand calls a second takes a fraction of a second.
//
//	scenario := retrysim.Scenario{
//		Length:  time.Minute,
//		Load:    retrysim.Open{Rate: retrysim.PerSecond(600)},
//		Timeout: 500 * time.Millisecond,
//		Server:  retrysim.Queue{Workers: 10, Service: retrysim.LogNormal(10*time.Millisecond, 0.25)},
//		Faults:  []retrysim.Fault{{From: 10 * time.Second, To: 20 * time.Second, Capacity: 0.5}},
//	}
//	report, err := retrysim.Run(ctx, scenario, 1, 1,
//		retrysim.Fleet("plain", func(retrysim.Client) *retry.Policy { return newPolicy() }),
//		retrysim.Fleet("budget", func(retrysim.Client) *retry.Policy { return newPolicy(retry.WithBudget(throttle.NewTokenBudget())) }),
//	)
//	…
//	err = report.Check("budget: recovery <= 3s")
//
// The command "retry sim" runs scenarios from files. docs/simulator.md says how to read the numbers and what the models leave out,
// docs/choosing.md what follows for the choice of a policy.
//
// # Which one
//
//   - A service with a fixed number of workers: Queue. One that does everything at once and slows down: Slope.
//   - Rows that many clients write: Row. Failures by chance, whatever the load: Chance.
//   - A server that answers 429: Quota, in front of another. Services that call each other: Layers.
//   - Load from many users: Open. From a fixed number of workers: Closed. Everybody at once: Burst.
//   - One policy, and so one budget, for all clients: Fleet. One for each: Each.
//   - A map over load and length of an outage: Stability.
//
// # Repeatability
//
// The same scenario, seed, trials and contenders give the same report to the last bit, on every platform and however many
// processors there are, provided that contenders take random numbers from Client.Rand and make what has a state inside of Policy.
// All contenders of a trial meet the same calls, and each attempt of a call the same network and service times, so that they
// are compared on equal terms.
package retrysim
