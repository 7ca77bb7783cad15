package simcmd_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/scenario"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/simcmd"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/simreport"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("os/signal.loop"), goleak.IgnoreTopFunction("os/signal.signal_recv"))
}

// sim runs the command in a folder of its own.
func sim(t *testing.T, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	dir := t.TempDir()
	var files [2]*os.File
	for i, name := range []string{"stdout", "stderr"} {
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		defer f.Close()
		files[i] = f
	}
	var commands struct {
		Sim simcmd.Command `cmd:"" help:"x"`
	}
	exit = frame.Main(&commands, append([]string{"sim"}, args...), &frame.IO{Stdout: files[0], Stderr: files[1]})
	var texts [2]string
	for i, f := range files {
		_, err := f.Seek(0, io.SeekStart)
		require.NoError(t, err)
		data, err := io.ReadAll(f)
		require.NoError(t, err)
		texts[i] = string(data)
	}
	return texts[0], texts[1], exit
}

func TestReadmeIsBrownout(t *testing.T) {
	out, errs, exit := sim(t, "brownout")
	require.Empty(t, errs)
	require.Zero(t, exit)
	_, table, found := strings.Cut(out, "\n\n                                attempts per call")
	require.True(t, found)
	readme, err := os.ReadFile("../../../../README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), table)
}

func TestAssertions(t *testing.T) {
	out, errs, exit := sim(t, "occ", "--assert", "no wait: attempts < 10", "--assert", "success >= 99%", "--assert", "completion < 1s")
	require.Contains(t, out, "attempts per call")
	require.Equal(t, 1, exit)
	lines := strings.Split(strings.TrimSpace(errs), "\n")
	require.Len(t, lines, 6, "one for attempts, and one for the completion of each policy")
	require.Equal(t, "retry: assertion failed: no wait: attempts is 2407, not < 10", lines[0])

	_, errs, exit = sim(t, "stability", "--loads", "10%,90%", "--outages", "10s", "--only", "--policy", "x=attempts=3", "--assert", "x: stable >= 50%")
	require.Equal(t, 1, exit)
	require.Equal(t, "retry: assertion failed: x: stable is 10%, not >= 50%\n", errs)
}

// TestUsage: one line, exit status 125, and nothing was simulated.
func TestUsage(t *testing.T) {
	for line, want := range map[string]string{
		"":                             "retry: sim needs a scenario: brownout, chance, closed-v-open",
		"outag":                        `retry: unknown scenario "outag"; known are brownout`,
		"./no.yaml":                    "retry: open ./no.yaml: no such file or directory",
		"occ --set x":                  `retry: --set "x": must be of the form PATH=VALUE`,
		"occ --set lenth=1s":           `retry: occ: unknown key "lenth"; known are`,
		"occ --set timeout=soon":       `retry: occ: timeout: must be a duration with a unit, such as 500ms, not "soon"`,
		"occ --policy x":               `retry: --policy "x": must be of the form`,
		"occ --policy x=budget=tokens": `retry: --policy policy "x": budget: throttle: name = "tokens": unknown budget`,
		"occ --assert sucess>1":        "retry: --assert: retrysim: assertion = sucess>1: unknown metric",
		"occ --assert x:success>1":     `retry: retrysim: assertion = x:success>1: there is no policy "x"`,
		"occ --assert stable>1":        "stable is known of a stability map only",
		"stability --loads 1%..x":      "retry: --loads must be a list of shares",
		"occ --loads 1%":               "retry: --loads and --outages are for a map",
		"occ --trials=-1":              "retry: --trials -1: must be at least 1",
		"occ --only":                   "retry: occ: there is no policy; add one with --policy",
		"occ --show=x":                 "retry: ",
		"mine --show":                  `retry: unknown scenario "mine"; see retry sim --list`,
		"occ --format xml":             "retry: ",
		"--fit p50=1s":                 "retry: --fit p50=1s: must be two quantiles",
		"--fit p50=1s,q99=2s":          `retry: --fit p50=1s,q99=2s: "q99" must be a quantile`,
		"--fit p50=2s,p99=1s":          "retry: --fit p50=2s,p99=1s: 1s must not be below that of the lower quantile",
		"chance --set server.chance=100% --only --policy x=attempts=unlimited": "its calls may never end",
	} {
		t.Run(line, func(t *testing.T) {
			out, errs, exit := sim(t, strings.Fields(line)...)
			require.Equal(t, 125, exit, errs)
			require.Equal(t, 1, strings.Count(errs, "\n"), errs)
			require.Contains(t, errs, want)
			if !strings.Contains(line, "--assert") {
				require.Empty(t, out)
			}
		})
	}
}

func TestShowAndList(t *testing.T) {
	out, _, exit := sim(t, "--list")
	require.Zero(t, exit)
	require.Equal(t, len(scenario.Names()), strings.Count(out, "\n"))
	out, _, exit = sim(t, "occ", "--show")
	require.Zero(t, exit)
	name := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(name, []byte(out), 0o600))
	mine, _, exit := sim(t, name)
	require.Zero(t, exit)
	ready, _, _ := sim(t, "occ")
	require.Equal(t, ready, mine)
	out, _, _ = sim(t, "--fit", "p50=40ms,p99=180ms")
	require.Equal(t, "lognormal(median=40ms, sigma=0.6465)\n", out)
	out, _, _ = sim(t, "--fit", "p999=180ms,p50=40ms")
	require.Equal(t, "lognormal(median=40ms, sigma=0.4867)\n", out)
}

func TestFormats(t *testing.T) {
	out, _, exit := sim(t, "occ", "--format", "json", "--trials", "3")
	require.Zero(t, exit)
	var r simreport.Report
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&r))
	require.Equal(t, 1, r.Version)
	require.Len(t, r.Results, 5)
	require.Equal(t, 300.0, *r.Results[0].Metrics["calls"])
	require.Positive(t, r.Results[0].Errors["attempts"])
	again, _, _ := sim(t, "occ", "--format", "json", "--trials", "3")
	require.Equal(t, out, again, "the same bytes")

	for _, flags := range [][]string{{}, {"--series"}} {
		out, _, exit = sim(t, append([]string{"occ", "--format", "csv"}, flags...)...)
		require.Zero(t, exit)
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		require.NoError(t, err)
		require.Greater(t, len(rows), 5)
		require.Equal(t, "policy", rows[0][0])
	}
	out, _, _ = sim(t, "outage", "--format", "csv", "--set", "length=8s")
	require.Contains(t, out, "at once,never,0,")
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	_, errs, exit := sim(t, "outage", "--out", filepath.Join(dir, "out"), "--html", page, "--pdf", filepath.Join(dir, "x.pdf"), "--policy", "x=</script><b>&=;attempts=2")
	require.Equal(t, 125, exit, "that is no key")
	_, errs, exit = sim(t, "outage", "--out", filepath.Join(dir, "out"), "--html", page, "--pdf", filepath.Join(dir, "x.pdf"), "--policy", "</script><b>=attempts=2")
	require.Zero(t, exit, errs)
	for _, name := range []string{"sim.txt", "sim.csv", "sim-series.csv", "sim.json", "sim.svg", "sim.png", "sim.html"} {
		data, err := os.ReadFile(filepath.Join(dir, "out", name))
		require.NoError(t, err)
		require.NotEmpty(t, data)
	}
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Less(t, len(data), 500_000)
	require.Equal(t, 1, bytes.Count(data, []byte("</script>")), "a policy's name is text")
	require.False(t, bytes.Contains(data, []byte("<b>")))
	require.False(t, bytes.Contains(data, []byte("src=")), "nothing is fetched")
	for _, word := range []string{"never recovers", "recovers at once", "✕", "✓", "<title>"} {
		require.True(t, bytes.Contains(data, []byte(word)), word)
	}
	_, errs, exit = sim(t, "occ", "--svg", filepath.Join(dir, "none", "x.svg"))
	require.Equal(t, 125, exit)
	require.Contains(t, errs, "no such file or directory")

	_, errs, exit = sim(t, "stability", "--loads", "10%,50%", "--outages", "1s", "--assert", "stable >= 0%", "--html", page, "--only", "--policy", "x=attempts=3")
	require.Zero(t, exit, errs)
	data, err = os.ReadFile(page)
	require.NoError(t, err)
	require.True(t, bytes.Contains(data, []byte("every outage is survived up to")))
}
