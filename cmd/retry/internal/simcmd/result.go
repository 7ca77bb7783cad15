package simcmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/picture"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/scenario"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/simreport"
	"github.com/seed-89b3229b/retry/retrysim"
)

// result is a report or a map.
type result struct {
	report *retrysim.Report
	mapped *retrysim.Map
	source string
}

func (c *Command) simulate(ctx context.Context, f *scenario.File) (r result, err error) {
	if f.Map != nil {
		r.mapped, err = retrysim.Stability(ctx, f.Scenario, f.Map.Loads, f.Map.Outages, c.Seed, f.Trials, nil, f.Contenders()...)
	} else {
		r.report, err = retrysim.Run(ctx, f.Scenario, c.Seed, f.Trials, f.Contenders()...)
	}
	if errors.Is(err, context.Canceled) {
		return r, errors.New("sim: interrupted")
	}
	r.source = c.source()
	return r, err
}

// source is the text of the scenario, with what the command line changes as comments.
func (c *Command) source() string {
	data, ok := scenario.Source(c.Scenario)
	if !ok {
		data, _ = os.ReadFile(c.Scenario)
	}
	for _, s := range c.Set {
		data = append(data, "# --set "+s+"\n"...)
	}
	for _, p := range c.Policy {
		data = append(data, "# --policy "+p+"\n"...)
	}
	return string(data)
}

// check returns the assertions that do not hold, and an error for one that cannot be checked.
func (r result) check(assertions []retrysim.Assertion) (failed []error, err error) {
	for _, a := range assertions {
		var found []error
		if r.mapped != nil {
			found = a.CheckMap(r.mapped)
		} else {
			found = a.Check(r.report)
		}
		for _, one := range found {
			var bad *retrysim.Failed
			if !errors.As(one, &bad) {
				return nil, one
			}
			failed = append(failed, one)
		}
	}
	return failed, nil
}

func (r result) text(out io.Writer) error {
	if r.mapped != nil {
		return r.mapped.WriteText(out)
	}
	return r.report.WriteText(out)
}

func (r result) data() *simreport.Report {
	if r.mapped != nil {
		return simreport.OfMap(r.mapped)
	}
	return simreport.Of(r.report)
}

func (r result) picture() *picture.Picture {
	if r.mapped != nil {
		return picture.Heat(r.mapped)
	}
	return picture.Curves(r.report)
}

func (r result) page(out io.Writer) error {
	var svg bytes.Buffer
	if err := r.picture().Write(&svg, "svg"); err != nil {
		return err
	}
	// Within HTML there is no XML declaration.
	_, body, _ := bytes.Cut(svg.Bytes(), []byte("<svg"))
	return simreport.Page{Picture: "<svg" + string(body), Source: r.source, Report: r.data()}.Write(out)
}

// write writes everything that was asked for.
func (c *Command) write(std *frame.IO, r result) error {
	data := r.data()
	csv := data.WriteCSV
	if c.Series {
		csv = data.WriteSeries
	}
	picture := func(format string) func(io.Writer) error {
		return func(out io.Writer) error { return r.picture().Write(out, format) }
	}
	formats := map[string]func(io.Writer) error{"text": r.text, "csv": csv, "json": data.WriteJSON}
	if err := formats[c.Format](std.Stdout); err != nil {
		return err
	}
	type output struct {
		name  string
		write func(io.Writer) error
	}
	outputs := []output{{c.SVG, picture("svg")}, {c.PNG, picture("png")}, {c.PDF, picture("pdf")}, {c.HTML, r.page}}
	if c.Out != "" {
		if err := os.MkdirAll(c.Out, 0o777); err != nil {
			return err
		}
		base := filepath.Join(c.Out, "sim")
		outputs = append(outputs, output{base + ".txt", r.text}, output{base + ".csv", data.WriteCSV}, output{base + ".json", data.WriteJSON},
			output{base + ".svg", picture("svg")}, output{base + ".png", picture("png")}, output{base + ".html", r.page})
		if r.report != nil {
			outputs = append(outputs, output{base + "-series.csv", data.WriteSeries})
		}
	}
	for _, o := range outputs {
		if o.name == "" {
			continue
		}
		if err := writeFile(o.name, o.write); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	return write(f)
}
