package picture

import (
	"fmt"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed-89b3229b/retry/retrysim"
)

// Picture is something that can be written as a file.
type Picture struct {
	// Title and Text are for those who cannot see it.
	Title, Text   string
	width, height vg.Length
	draw          func(draw.Canvas)
}

const (
	width       = 22 * vg.Centimeter
	panelHeight = 5.5 * vg.Centimeter
	rowHeight   = 15 // points of a row of the legend
)

// Curves draws attempts, success and amplification over time, a line for each contender.
func Curves(r *retrysim.Report) *Picture {
	panels := []*plot.Plot{
		newPlot("Attempts that reach the server", "attempts/s"), newPlot("Calls that succeed, by when they began", "%"),
		newPlot("Attempts per call that begins", ""),
	}
	span := r.Scenario.Length
	for i := range r.Results {
		for _, s := range r.Results[i].Series {
			if s.Attempts > 0 {
				span = max(span, min(s.At+stepOf(r.Scenario), 2*r.Scenario.Length))
			}
		}
	}
	for k, points := range []func([]retrysim.Step) plotter.XYs{loads(r), successes(r), amplifications(r)} {
		highest := 0.0
		for i := range r.Results {
			for _, point := range points(r.Results[i].Series) {
				highest = max(highest, point.Y)
			}
		}
		if highest = 1.08 * highest; k == 1 || highest == 0 {
			highest = 102
		}
		p := panels[k]
		background(p, r.Scenario.Faults, span.Seconds(), highest)
		for i := range r.Results {
			if xys := points(r.Results[i].Series); len(xys) > 0 {
				p.Add(&plotter.Line{XYs: xys, LineStyle: lineOf(i)})
			}
		}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, span.Seconds(), 0, highest
	}
	panels[len(panels)-1].X.Label.Text = "seconds"
	names := make([]string, len(r.Results))
	for i := range r.Results {
		names[i] = r.Results[i].Name
	}
	head := vg.Points(44 + rowHeight*float64(len(names)))
	return &Picture{
		Title: title(r.Scenario), Text: sentence(r), width: width, height: head + vg.Length(len(panels))*panelHeight,
		draw: func(c draw.Canvas) {
			header(draw.Crop(c, vg.Points(14), 0, c.Max.Y-c.Min.Y-head, -vg.Points(6)), title(r.Scenario), names)
			body := draw.Crop(c, vg.Points(8), -vg.Points(14), vg.Points(6), -head)
			tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadY: vg.Points(16)}
			grid := make([][]*plot.Plot, len(panels))
			for i, p := range panels {
				grid[i] = []*plot.Plot{p}
			}
			for i, canvases := range plot.Align(grid, tiles, body) {
				panels[i].Draw(canvases[0])
			}
		},
	}
}

// header writes the title, and which line is whose.
func header(c draw.Canvas, title string, names []string) {
	y := c.Max.Y - vg.Points(14)
	c.FillText(write(13, ink), vg.Point{X: c.Min.X, Y: y}, title)
	for i, name := range names {
		y -= vg.Points(rowHeight)
		middle := y + vg.Points(3)
		c.StrokeLine2(lineOf(i), c.Min.X, middle, c.Min.X+vg.Points(34), middle)
		c.FillText(write(10, ink), vg.Point{X: c.Min.X + vg.Points(42), Y: y}, name)
	}
}

func title(s retrysim.Scenario) string {
	if s.Name == "" {
		return "simulation"
	}
	return s.Name
}

// sentence says in words what the curves show.
func sentence(r *retrysim.Report) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(strings.ReplaceAll(r.Scenario.Describe(), "\n", ". ")))
	recovery, _ := retrysim.MetricOf("recovery")
	success, _ := retrysim.MetricOf("success")
	amplification, _ := retrysim.MetricOf("amplification")
	for i := range r.Results {
		one := &r.Results[i]
		fmt.Fprintf(&b, " %s: %s succeed, %s attempts per call", one.Name, success.Format(one.Value(success)), amplification.Format(one.Value(amplification)))
		if len(r.Scenario.Faults) > 0 {
			fmt.Fprintf(&b, ", well again after: %s", recovery.Format(one.Value(recovery)))
		}
		b.WriteByte('.')
	}
	return b.String()
}

// over draws a value of each step in its middle, where there is one.
func over(r *retrysim.Report, value func(retrysim.Step) (v float64, ok bool)) func([]retrysim.Step) plotter.XYs {
	half := stepOf(r.Scenario).Seconds() / 2
	return func(series []retrysim.Step) (points plotter.XYs) {
		for _, s := range series {
			if v, ok := value(s); ok {
				points = append(points, plotter.XY{X: s.At.Seconds() + half, Y: v})
			}
		}
		return points
	}
}

func loads(r *retrysim.Report) func([]retrysim.Step) plotter.XYs {
	per := stepOf(r.Scenario).Seconds() * float64(r.Trials)
	return over(r, func(s retrysim.Step) (float64, bool) { return float64(s.Attempts) / per, true })
}

func successes(r *retrysim.Report) func([]retrysim.Step) plotter.XYs {
	return over(r, func(s retrysim.Step) (float64, bool) { return 100 * s.Success(), s.Calls > 0 && s.Ended == s.Calls })
}

func amplifications(r *retrysim.Report) func([]retrysim.Step) plotter.XYs {
	return over(r, func(s retrysim.Step) (float64, bool) {
		return float64(s.Attempts) / float64(max(s.Calls, 1)), s.Calls > 0
	})
}

func stepOf(s retrysim.Scenario) time.Duration {
	if s.Step <= 0 {
		return time.Second
	}
	return s.Step
}

// background shades the faults, and draws lines across.
func background(p *plot.Plot, faults []retrysim.Fault, end, top float64) {
	for _, f := range faults {
		from, to := f.From.Seconds(), min(f.To.Seconds(), end)
		if from >= end {
			continue
		}
		area, err := plotter.NewPolygon(plotter.XYs{{X: from}, {X: to}, {X: to, Y: top}, {X: from, Y: top}})
		if err != nil {
			continue
		}
		area.Color, area.LineStyle.Width = shade, 0
		p.Add(area)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = nil, rule
	p.Add(grid)
}
