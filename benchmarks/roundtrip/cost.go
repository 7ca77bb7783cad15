package roundtrip

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-89b3229b/retry/benchmarks/library"
	"github.com/seed-89b3229b/retry/benchmarks/report"
	"github.com/seed-89b3229b/retry/benchmarks/speed"
)

// Cost is what a case costs.
type Cost struct {
	speed.Result
	Case
}

// Case is a GET that succeeds at once, by a library in one of its ways.
type Case struct {
	Client *Client // nil: the base alone
	Way    string
	// Call makes a request and closes the body of its answer.
	Call func() error
}

func (c *Case) name() (name, version string) {
	if c.Client == nil {
		return "none", ""
	}
	return c.Client.Name, c.Client.Version()
}

// Name is the case's name as a benchmark.
func (c *Case) Name() string {
	name, _ := c.name()
	return name + "/" + c.Way
}

// Cases are all cases, the base alone first. The base answers from memory, so that nothing but the library is measured.
func Cases(ctx context.Context) ([]Case, error) {
	bare, err := newCase(ctx, nil, Way{"the base alone", func(base http.RoundTripper) (http.RoundTripper, error) { return base, nil }})
	if err != nil {
		return nil, err
	}
	cases := []Case{bare}
	for _, client := range Clients() {
		for _, way := range client.Ways {
			c, err := newCase(ctx, client, way)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", client.Name, way.Name, err)
			}
			cases = append(cases, c)
		}
	}
	return cases, nil
}

func newCase(ctx context.Context, client *Client, way Way) (Case, error) {
	transport, err := way.New(new(stub))
	if err != nil {
		return Case{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://example.com/", nil)
	if err != nil {
		return Case{}, err
	}
	return Case{client, way.Name, func() error {
		response, err := transport.RoundTrip(r)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}}, nil
}

// stub answers at once, without an allocation. It is for one request at a time.
type stub struct{ response http.Response }

func (s *stub) RoundTrip(*http.Request) (*http.Response, error) {
	s.response = http.Response{StatusCode: http.StatusOK, Header: s.response.Header, Body: http.NoBody}
	return &s.response, nil
}

// Costs is what all cases cost.
type Costs []Cost

// Measure measures all cases in turn, as the speed of the other libraries is measured.
func Measure(ctx context.Context, rounds int, slice time.Duration, after func(round int)) (Costs, error) {
	cases, err := Cases(ctx)
	if err != nil {
		return nil, err
	}
	measured := make([]speed.Case, len(cases))
	for i, c := range cases {
		measured[i] = speed.Case{Row: speed.Row{Calls: 1, Goroutines: 1}, Make: func(context.Context, library.Op) func() (int, error) {
			return func() (int, error) { return 0, c.Call() }
		}}
	}
	costs := make(Costs, len(cases))
	for i, result := range speed.Measure(ctx, measured, rounds, slice, after) {
		costs[i] = Cost{result, cases[i]}
	}
	return costs, nil
}

// Table is a line for each case.
func (cs Costs) Table() *report.Table {
	t := &report.Table{
		Head:  []string{"library", "version", "with", "ns/op", "quartiles", "over the base", "B/op", "allocs/op"},
		Right: []bool{3: true, 4: true, 5: true, 6: true, 7: true},
	}
	bare := cs[0]
	for _, c := range cs {
		name, version := c.name()
		t.Rows = append(t.Rows, []string{
			name, version, c.Way, fmt.Sprintf("%.0f", c.Ns), fmt.Sprintf("%.0f..%.0f", c.Low, c.High), fmt.Sprintf("%.0f", c.Ns-bare.Ns),
			fmt.Sprint(c.Bytes), fmt.Sprint(c.Allocs),
		})
	}
	return t
}
