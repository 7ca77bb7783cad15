package picture

import (
	"fmt"
	"image/color"
	"math"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed-89b3229b/retry/retrysim"
)

// Heat draws a stability map: for each contender a grid of loads and outages, the darker the longer recovery takes. A cell that never
// recovers is hatched and has a sign in it.
func Heat(m *retrysim.Map) *Picture {
	var panels []*plot.Plot
	text := fmt.Sprintf("Seconds until all is well again after an outage, over load and length of the outage; %d trials.", m.Trials)
	for k, name := range m.Names {
		p := newPlot(fmt.Sprintf("%s: stable up to %.0f%%", name, 100*m.Stable(k)), "load, % of capacity")
		p.X.Label.Text = "length of the outage"
		p.Add(&cells{m, k})
		p.X.Min, p.X.Max = 0, float64(len(m.Outages))
		p.Y.Min, p.Y.Max = 0, float64(len(m.Loads))
		p.X.Tick.Marker, p.Y.Tick.Marker = names(len(m.Outages), func(i int) string { return m.Outages[i].String() }), names(len(m.Loads), func(i int) string {
			return fmt.Sprintf("%.3g", 100*m.Loads[i])
		})
		p.X.Tick.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0
		panels = append(panels, p)
		text += fmt.Sprintf(" %s: every outage is survived up to %.0f%% of the capacity.", name, 100*m.Stable(k))
	}
	const columns = 2
	rows := (len(panels) + columns - 1) / columns
	high := vg.Points(70 + 17*float64(len(m.Loads)))
	return &Picture{
		Title: title(m.Scenario) + ": recovery over load and outage", Text: text, width: width, height: vg.Points(56) + vg.Length(rows)*high,
		draw: func(c draw.Canvas) {
			c.FillText(write(13, ink), vg.Point{X: c.Min.X + vg.Points(14), Y: c.Max.Y - vg.Points(20)}, title(m.Scenario)+": seconds until all is well again")
			c.FillText(write(9, soft), vg.Point{X: c.Min.X + vg.Points(14), Y: c.Max.Y - vg.Points(34)}, "hatched, ∞: it never recovers; !: because of the retries, since with one attempt per call it does")
			body := draw.Crop(c, vg.Points(8), -vg.Points(14), vg.Points(6), -vg.Points(52))
			tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: vg.Points(16), PadY: vg.Points(20)}
			for i, p := range panels {
				p.Draw(tiles.At(body, i%columns, i/columns))
			}
		},
	}
}

// names puts a name in the middle of each cell.
func names(n int, name func(int) string) plot.ConstantTicks {
	ticks := make(plot.ConstantTicks, n)
	for i := range ticks {
		ticks[i] = plot.Tick{Value: float64(i) + 0.5, Label: name(i)}
	}
	return ticks
}

// cells is the grid of one contender.
type cells struct {
	m *retrysim.Map
	k int
}

// DataRange is that of the grid.
func (g *cells) DataRange() (xmin, xmax, ymin, ymax float64) {
	return 0, float64(len(g.m.Outages)), 0, float64(len(g.m.Loads))
}

// Plot draws the grid.
func (g *cells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, row := range g.m.Cells[g.k] {
		for j, cell := range row {
			left, right, low, high := x(float64(j)), x(float64(j+1)), y(float64(i)), y(float64(i+1))
			box := []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}}
			fill, text := colourOf(cell)
			c.FillPolygon(fill, box)
			if cell.Worst == retrysim.Never {
				hatch(c, left, right, low, high)
			}
			c.StrokeLines(draw.LineStyle{Color: color.White, Width: vg.Points(1)}, append(box, box[0]))
			style := write(9, text)
			style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
			c.FillText(style, vg.Point{X: (left + right) / 2, Y: (low + high) / 2}, word(cell))
		}
	}
}

func word(cell retrysim.Cell) string {
	switch {
	case cell.Metastable:
		return "∞ !"
	case cell.Worst == retrysim.Never:
		return "∞"
	}
	return fmt.Sprint(int64((cell.Worst + time.Second/2) / time.Second))
}

// colourOf is lighter the sooner a cell recovers, and dark where it never does, with a colour for text on it.
func colourOf(cell retrysim.Cell) (fill, text color.Color) {
	if cell.Worst == retrysim.Never {
		return color.RGBA{0x6a, 0x1b, 0x2e, 0xff}, color.White
	}
	share := min(math.Log1p(cell.Worst.Seconds())/math.Log1p(60), 1)
	mix := func(a, b float64) uint8 { return uint8(a + share*(b-a)) }
	return color.RGBA{mix(0xe9, 0xf0), mix(0xf4, 0x9a), mix(0xea, 0x4b), 0xff}, ink
}

// hatch draws slanting lines over a cell, but leaves its middle to the text.
func hatch(c draw.Canvas, left, right, low, high vg.Length) {
	style := draw.LineStyle{Color: color.RGBA{0xb5, 0x6a, 0x7b, 0xff}, Width: vg.Points(0.6)}
	for at := left - (high - low); at < right; at += vg.Points(5) {
		x1, y1, x2, y2 := at, low, at+(high-low), high
		if x1 < left {
			x1, y1 = left, low+(left-at)
		}
		if x2 > right {
			x2, y2 = right, high-(x2-right)
		}
		c.StrokeLine2(style, x1, y1, x2, y2)
	}
	middle, half := (left+right)/2, min((right-left)/3, vg.Points(11))
	c.FillPolygon(color.RGBA{0x6a, 0x1b, 0x2e, 0xff}, []vg.Point{
		{X: middle - half, Y: low + vg.Points(3)}, {X: middle + half, Y: low + vg.Points(3)}, {X: middle + half, Y: high - vg.Points(3)}, {X: middle - half, Y: high - vg.Points(3)},
	})
}
