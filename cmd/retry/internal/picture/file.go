package picture

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Formats are what Write knows.
var Formats = []string{"svg", "png", "pdf"}

// Write writes the picture in one of the Formats.
func (p *Picture) Write(out io.Writer, format string) error {
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch format {
	case "svg":
		return p.writeSVG(out)
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(144))}
	case "pdf":
		pdf := vgpdf.New(p.width, p.height)
		canvas = pdf
	default:
		return fmt.Errorf("unknown format %q; known are %s", format, strings.Join(Formats, ", "))
	}
	p.draw(draw.New(canvas))
	_, err := canvas.WriteTo(out)
	return err
}

// writeSVG adds what readers of screens need, and names typefaces that are as wide as the one that is meant.
func (p *Picture) writeSVG(out io.Writer) error {
	canvas := vgsvg.New(p.width, p.height)
	p.draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	text := b.String()
	at := strings.Index(text, "<svg")
	if at < 0 {
		return fmt.Errorf("picture: no SVG was drawn")
	}
	end := at + strings.Index(text[at:], ">") + 1
	text = text[:end-1] + ` role="img" aria-labelledby="title desc">` +
		"\n<title id=\"title\">" + html.EscapeString(p.Title) + "</title>\n<desc id=\"desc\">" + html.EscapeString(p.Text) + "</desc>" + text[end:]
	text = strings.ReplaceAll(text, "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	_, err := io.WriteString(out, text)
	return err
}
