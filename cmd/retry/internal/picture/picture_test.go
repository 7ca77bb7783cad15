package picture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/picture"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/scenario"
	"github.com/seed-89b3229b/retry/retrysim"
)

// pictures are one of each kind.
func pictures(t *testing.T) map[string]*picture.Picture {
	f, err := scenario.Load("outage")
	require.NoError(t, err)
	r, err := retrysim.Run(t.Context(), f.Scenario, 1, 1, f.Contenders()...)
	require.NoError(t, err)
	f, err = scenario.Load("stability")
	require.NoError(t, err)
	m, err := retrysim.Stability(t.Context(), f.Scenario, []float64{0.1, 0.3, 0.6, 0.9}, []time.Duration{time.Second, 5 * time.Second}, 1, 1, nil, f.Contenders()...)
	require.NoError(t, err)
	return map[string]*picture.Picture{"curves": picture.Curves(r), "map": picture.Heat(m)}
}

func TestWrite(t *testing.T) {
	for name, p := range pictures(t) {
		for _, format := range picture.Formats {
			var first, again bytes.Buffer
			require.NoError(t, p.Write(&first, format))
			require.NoError(t, p.Write(&again, format))
			if format != "pdf" { // which has the time in it
				require.Equal(t, first.Bytes(), again.Bytes(), "%s as %s", name, format)
			}
			if dir := os.Getenv("PICTURES"); dir != "" { // to be looked at
				require.NoError(t, os.WriteFile(filepath.Join(dir, name+"."+format), first.Bytes(), 0o600))
			}
			switch format {
			case "svg":
				require.True(t, strings.Contains(first.String(), `role="img"`) && strings.Contains(first.String(), "</desc>"))
				require.Equal(t, name == "curves", strings.Contains(first.String(), "stroke-dasharray"))
				d := xml.NewDecoder(&first)
				for {
					if _, err := d.Token(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatal(err)
					}
				}
			case "png":
				image, err := png.Decode(&first)
				require.NoError(t, err)
				require.Greater(t, image.Bounds().Dx(), 1000)
			case "pdf":
				require.Equal(t, "%PDF", first.String()[:4])
			}
		}
		require.ErrorContains(t, p.Write(io.Discard, "gif"), `unknown format "gif"; known are svg, png, pdf`)
	}
}

// TestNothing: a report in which nothing happened can be drawn.
func TestNothing(t *testing.T) {
	s := retrysim.Scenario{Length: time.Second, Load: retrysim.Open{Rate: retrysim.PerSecond(0)}, Server: retrysim.Row{}}
	r, err := retrysim.Run(t.Context(), s, 1, 1, retrysim.Fleet("<&>", nil))
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, picture.Curves(r).Write(&out, "svg"))
	require.True(t, strings.Contains(out.String(), "&lt;&amp;&gt;"))
}
