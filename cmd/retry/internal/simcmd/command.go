// Package simcmd is the command "sim".
package simcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/scenario"
	"github.com/seed-89b3229b/retry/retrysim"
)

// Command is the command line of "sim".
type Command struct {
	Scenario string `arg:"" optional:"" help:"A ready-made scenario (--list), or a YAML file."`

	Policy []string `sep:"none" placeholder:"NAME=TEXT" group:"What is simulated" help:"One more policy, or another of that name, such as 'x=strategy=constant;attempts=3;budget=token'."`
	Only   bool     `group:"What is simulated" help:"Leave the policies and assertions of the scenario out."`
	Set    []string `sep:"none" placeholder:"PATH=VALUE" group:"What is simulated" help:"Change the scenario, such as server.queue.workers=20. A ready-made one then asserts nothing by itself."`
	Seed   uint64   `default:"1" group:"What is simulated" help:"Seed of the random numbers. The same one gives the same bytes. Default: 1."`
	Trials int      `placeholder:"N" group:"What is simulated" help:"How often it is simulated. Default: 1, or what the scenario says."`
	Loads  string   `placeholder:"LIST" group:"What is simulated" help:"Of a map: shares of the capacity, such as 10%..95%/5%."`
	Outage string   `name:"outages" placeholder:"LIST" group:"What is simulated" help:"Of a map: lengths of the outage, such as 1s,5s,20s."`

	Assert []string `sep:"none" placeholder:"TEXT" group:"What must be true" help:"[POLICY:] METRIC OP VALUE, such as 'x: recovery <= 2s'. Exit status 1 if one is not."`

	Format string `default:"text" enum:"text,csv,json" group:"What is written" help:"text, csv or json, on standard output. Default: text."`
	Series bool   `group:"What is written" help:"With csv: a row for each policy and step."`
	Out    string `placeholder:"DIR" group:"What is written" help:"Write text, csv, json, svg, png and html there too."`
	SVG    string `name:"svg" placeholder:"FILE" group:"What is written" help:"Write a picture."`
	PNG    string `name:"png" placeholder:"FILE" group:"What is written" help:"Write a picture."`
	PDF    string `name:"pdf" placeholder:"FILE" group:"What is written" help:"Write a picture."`
	HTML   string `name:"html" placeholder:"FILE" group:"What is written" help:"Write one page with everything in it."`

	List bool   `group:"Instead" help:"List the ready-made scenarios."`
	Show bool   `group:"Instead" help:"Show the scenario's YAML, to start one of your own from."`
	Fit  string `placeholder:"p50=D,p99=D" group:"Instead" help:"Show the log-normal distribution with these two quantiles."`
}

// Examples are the end of the help.
func (*Command) Examples() []string {
	return []string{
		"retry sim brownout",
		"retry sim outage --policy 'mine=attempts=5;budget=ratio' --assert 'mine: recovery <= 2s'",
		"retry sim stability --loads 10%..90%/20% --outages 1s,5s --svg map.svg",
	}
}

// Run simulates.
func (c *Command) Run(std *frame.IO) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch {
	case c.List:
		return list(std)
	case c.Fit != "":
		return fit(std, c.Fit)
	case c.Scenario == "":
		return frame.Usage("sim needs a scenario: %s, or a file", strings.Join(scenario.Names(), ", "))
	case c.Show:
		return show(std, c.Scenario)
	}
	file, err := c.load()
	if err != nil {
		return err
	}
	result, err := c.simulate(ctx, file)
	if err != nil {
		return err
	}
	if err := c.write(std, result); err != nil {
		return err
	}
	failed, err := result.check(file.Assert)
	if err != nil {
		return err
	}
	for _, f := range failed {
		fmt.Fprintf(std.Stderr, "%s: assertion failed: %v\n", frame.Name, f)
	}
	if len(failed) > 0 {
		return frame.Exit(1)
	}
	return nil
}

// load reads the scenario, and changes it as the command line says.
func (c *Command) load() (*scenario.File, error) {
	var settings []scenario.Setting
	for _, text := range c.Set {
		s, err := scenario.ParseSetting(text)
		if err != nil {
			return nil, frame.Usage("--set %v", err)
		}
		settings = append(settings, s)
	}
	f, err := scenario.Load(c.Scenario, settings...)
	if err != nil {
		return nil, err
	}
	if _, ready := scenario.Source(c.Scenario); ready && len(c.Set) > 0 {
		f.Assert = nil // what it says of itself is said of it as it is
	}
	if c.Only {
		f.Policies, f.Assert = nil, nil
	}
	for _, text := range c.Policy {
		p, err := scenario.ParsePolicy(text)
		if err != nil {
			return nil, frame.Usage("--policy %v", err)
		}
		f.Put(p)
	}
	if len(f.Policies) == 0 {
		return nil, frame.Usage("%s: there is no policy; add one with --policy", c.Scenario)
	}
	for _, text := range c.Assert {
		a, err := retrysim.ParseAssertion(text)
		if err != nil {
			return nil, frame.Usage("--assert: %v", err)
		}
		f.Assert = append(f.Assert, a)
	}
	return f, c.shape(f)
}

// shape sets what the map and the trials are to be.
func (c *Command) shape(f *scenario.File) (err error) {
	switch {
	case c.Trials < 0:
		return frame.Usage("--trials %d: must be at least 1", c.Trials)
	case c.Trials > 0:
		f.Trials = c.Trials
	}
	f.Trials = max(f.Trials, 1)
	if f.Map == nil && (c.Loads != "" || c.Outage != "") {
		return frame.Usage("--loads and --outages are for a map, such as that of stability")
	}
	if c.Loads != "" {
		if f.Map.Loads, err = scenario.Loads(c.Loads); err != nil {
			return frame.Usage("--loads %v", err)
		}
	}
	if c.Outage != "" {
		if f.Map.Outages, err = scenario.Durations(c.Outage); err != nil {
			return frame.Usage("--outages %v", err)
		}
	}
	return nil
}

func list(std *frame.IO) error {
	for _, name := range scenario.Names() {
		f, err := scenario.Load(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.Stdout, "%-14s %s\n", name, f.About)
	}
	return nil
}

func show(std *frame.IO, name string) error {
	data, ok := scenario.Source(name)
	if !ok {
		return frame.Usage("unknown scenario %q; see %s sim --list", name, frame.Name)
	}
	_, err := std.Stdout.Write(data)
	return err
}

// fit shows the distribution that has two quantiles.
func fit(std *frame.IO, text string) error {
	pairs := strings.Split(text, ",")
	if len(pairs) != 2 {
		return frame.Usage("--fit %s: must be two quantiles, such as p50=40ms,p99=180ms", text)
	}
	var shares [2]float64
	var durations [2]frame.Duration
	for i, pair := range pairs {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		digits, ok := strings.CutPrefix(name, "p")
		share, err := scenario.Share(digits + "%")
		if len(digits) > 2 && !strings.Contains(digits, ".") { // p999 is 99.9 %
			share, err = scenario.Share(digits[:2] + "." + digits[2:] + "%")
		}
		if !ok || err != nil {
			return frame.Usage("--fit %s: %q must be a quantile, such as p50 or p99", text, name)
		}
		d, err := frame.ParseDuration("--fit "+name, value)
		if err != nil {
			return err
		}
		shares[i], durations[i].Duration = share, d
	}
	d, err := retrysim.FitLogNormal(shares[0], durations[0].Duration, shares[1], durations[1].Duration)
	if err != nil {
		var invalid *retrysim.ConfigError
		if errors.As(err, &invalid) {
			return frame.Usage("--fit %s: %v %s", text, invalid.Value, invalid.Problem)
		}
		return err
	}
	fmt.Fprintln(std.Stdout, d)
	return nil
}
