// Package picture draws what came of simulations: curves over time, and stability maps. It writes SVG, PNG and PDF.
package picture

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// sans is the one typeface. gonum has it built in.
var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// Colours of lines. They differ in lightness too, and each has dashes of its own, so that a picture in grey can be read.
var lines = []draw.LineStyle{
	line(0x0b, 0x4a, 0x8f),
	line(0xd9, 0x6b, 0x0b, 7, 3),
	line(0x1a, 0x96, 0x5a, 2, 2),
	line(0x5b, 0x1a, 0x4a, 9, 2, 2, 2),
	line(0xe0, 0x48, 0x6f, 4, 4),
	line(0x56, 0xa8, 0xdc, 1, 1),
	line(0x6b, 0x6b, 0x6b, 12, 3),
	line(0x9b, 0x84, 0x00, 5, 2, 1, 2),
}

var (
	ink   = color.RGBA{0x1c, 0x22, 0x2b, 0xff}
	soft  = color.RGBA{0x5a, 0x63, 0x70, 0xff}
	rule  = color.RGBA{0xd9, 0xde, 0xe5, 0xff}
	shade = color.RGBA{0xf3, 0xe6, 0xd3, 0xff}
)

func line(r, g, b uint8, dashes ...float64) draw.LineStyle {
	s := draw.LineStyle{Color: color.RGBA{r, g, b, 0xff}, Width: vg.Points(1.6)}
	for _, d := range dashes {
		s.Dashes = append(s.Dashes, vg.Points(d))
	}
	return s
}

// lineOf is the line of a contender.
func lineOf(i int) draw.LineStyle { return lines[i%len(lines)] }

// write is a style for text. Nothing is bold: the PDF writer does not find that font.
func write(size float64, c color.Color) draw.TextStyle {
	return draw.TextStyle{Color: c, Font: font.From(sans, vg.Points(size)), Handler: plot.DefaultTextHandler}
}

// newPlot is an empty panel with a title and axes.
func newPlot(title, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle = write(11, ink)
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	p.Title.Padding = vg.Points(5)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle = withAlign(a.Label.TextStyle, write(9, soft))
		a.Tick.Label = withAlign(a.Tick.Label, write(9, soft))
		a.LineStyle.Color, a.Tick.LineStyle.Color = soft, soft
	}
	p.Y.Label.Text = y
	return p
}

// withAlign is the text style s, aligned and turned as old.
func withAlign(old, s draw.TextStyle) draw.TextStyle {
	s.Rotation, s.XAlign, s.YAlign = old.Rotation, old.XAlign, old.YAlign
	return s
}
