package e2e_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// prometheusTools finds Prometheus, and promtool, which comes with it. Where they are not installed, Debian's package is
// unpacked into a temporary folder: installing it would start a server.
func prometheusTools(t *testing.T) (prometheus, promtool string) {
	t.Helper()
	prometheus, err := exec.LookPath("prometheus")
	if err == nil {
		promtool, err = exec.LookPath("promtool")
	}
	if err == nil {
		return prometheus, promtool
	}
	_, err = exec.LookPath("apt-get")
	require.NoError(t, err, "install prometheus and promtool: only where there is apt-get they can be fetched")
	dir := t.TempDir()
	download := exec.Command("apt-get", "download", "prometheus")
	download.Dir = dir
	if out, err := download.CombinedOutput(); err != nil {
		t.Logf("%s", out)
		command(t, "", "apt-get", "update")
		command(t, dir, "apt-get", "download", "prometheus")
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	require.NoError(t, err)
	require.Len(t, packages, 1)
	command(t, dir, "dpkg-deb", "-x", packages[0], dir)
	return filepath.Join(dir, "usr/bin/prometheus"), filepath.Join(dir, "usr/bin/promtool")
}

func TestEndToEndMetrics(t *testing.T) {
	ifAsked(t)
	prometheus, promtool := prometheusTools(t)
	dir := t.TempDir()
	for name, from := range map[string]string{"alerts.yaml": documents, "alerts_test.yaml": "testdata"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}

	t.Run("promtool", func(t *testing.T) {
		require.Regexp(t, `SUCCESS: \d+ rules found`, command(t, dir, promtool, "check", "rules", "alerts.yaml"))
		command(t, dir, promtool, "test", "rules", "alerts_test.yaml")
	})

	t.Run("Prometheus", func(t *testing.T) {
		free := addresses(t, 2)
		shop, listen := free[0], free[1]
		program := start(t, tracedService(t), "-prometheus", shop)
		eventually(t, program, func() error {
			if !strings.Contains(program.output(), "metrics at http://"+shop+"/metrics") {
				return fmt.Errorf("no metrics yet")
			}
			return nil
		})
		config := fmt.Sprintf("global: {scrape_interval: 500ms, evaluation_interval: 500ms}\nrule_files: [alerts.yaml]\n"+
			"scrape_configs:\n  - job_name: shop\n    static_configs: [{targets: ['%s']}]\n", shop)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o644))
		p := server{start(t, prometheus, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
			"--web.listen-address="+listen, "--enable-feature=exemplar-storage"), "http://" + listen + "/api/v1/"}

		p.panels(t)
		p.alerts(t)
		p.exemplars(t)
	})
}

// server is a Prometheus that runs.
type server struct {
	*process
	api string
}

// query returns the values of an expression.
func (p server) query(expr string) (values []float64, err error) {
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if err := get(p.api+"query?"+url.Values{"query": {expr}}.Encode(), &answer); err != nil {
		return nil, err
	}
	for _, r := range answer.Data.Result {
		v, err := strconv.ParseFloat(fmt.Sprint(r.Value[1]), 64)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// panels asks what the dashboard asks. Every panel has something to show, and where that is one number it is the one that
// the script of the stock service makes: of 5 calls 2 fail, 1 is saved by retries, and they make 10 attempts.
func (p server) panels(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(documents, "dashboard.json"))
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	want := map[string]float64{"Failed": 0.4, "Saved by a retry": 0.2, "Attempts for each call": 2}
	variables := strings.NewReplacer("$job", ".*", "$retry_name", ".*", "$__rate_interval", "1m", "$__range", "1h")
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			eventually(t, p.process, func() error {
				values, err := p.query(variables.Replace(target.Expr))
				switch {
				case err != nil:
					return err
				case len(values) == 0:
					return fmt.Errorf("%s: nothing to show", panel.Title)
				}
				for _, v := range values {
					if math.IsNaN(v) || v < 0 {
						return fmt.Errorf("%s: %v", panel.Title, v)
					}
				}
				if w, ok := want[panel.Title]; ok && math.Abs(values[0]-w) > w/4 { // a round may be under way
					return fmt.Errorf("%s: %v, not about %v", panel.Title, values[0], w)
				}
				return nil
			})
			values, _ := p.query(variables.Replace(target.Expr))
			t.Logf("%s: %.3g", panel.Title, values)
			delete(want, panel.Title)
		}
	}
	require.Empty(t, want)
}

// alerts sees that Prometheus evaluates all alerts, and that those that should are about to fire.
func (p server) alerts(t *testing.T) {
	t.Helper()
	pending := map[string]bool{"RetryOperationsFail": true, "RetriesHideFailures": true, "RetryThrottled": true}
	eventually(t, p.process, func() error {
		var answer struct {
			Data struct {
				Groups []struct {
					Rules []struct{ Name, Health, LastError, State string }
				}
			}
		}
		if err := get(p.api+"rules", &answer); err != nil {
			return err
		}
		rules := 0
		for _, group := range answer.Data.Groups {
			for _, r := range group.Rules {
				rules++
				if r.Health != "ok" || r.LastError != "" || pending[r.Name] && r.State != "pending" {
					return fmt.Errorf("%+v", r)
				}
			}
		}
		if rules < len(pending) {
			return fmt.Errorf("%d rules", rules)
		}
		return nil
	})
}

// exemplars sees that a time series leads to a trace.
func (p server) exemplars(t *testing.T) {
	t.Helper()
	query := url.Values{
		"query": {`retry_operation_duration_seconds_bucket{retry_outcome="success"}`},
		"start": {fmt.Sprint(time.Now().Add(-time.Hour).Unix())}, "end": {fmt.Sprint(time.Now().Unix() + 1)},
	}
	eventually(t, p.process, func() error {
		var answer struct {
			Data []struct {
				Exemplars []struct{ Labels map[string]string }
			}
		}
		if err := get(p.api+"query_exemplars?"+query.Encode(), &answer); err != nil {
			return err
		}
		for _, series := range answer.Data {
			for _, e := range series.Exemplars {
				if regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(e.Labels["trace_id"]) {
					return nil
				}
			}
		}
		return fmt.Errorf("no exemplar with a trace")
	})
}
