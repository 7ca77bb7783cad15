package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
)

const documents = "../../docs"

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(documents, name))
	require.NoError(t, err)
	return string(text)
}

// blocks returns the fenced blocks of a language.
func blocks(t *testing.T, text, language string) (found []string) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		found = append(found, block[1])
	}
	require.NotEmpty(t, found, language)
	return found
}

// TestDocumentedCode finds every block of Go in a file that the compiler sees, the rule in the collector's file, and the
// drawing in the output.
func TestDocumentedCode(t *testing.T) {
	text := document(t, "observability.md")
	code, err := os.ReadFile("wiring_test.go")
	require.NoError(t, err)
	for _, block := range blocks(t, text, "go") {
		assert.Contains(t, unindented(string(code)), unindented(block), "no test compiles this block")
	}
	for _, block := range blocks(t, text, "yaml") {
		assert.Contains(t, document(t, "observability/collector.yaml"), block)
	}
	for _, block := range blocks(t, text, "text") {
		assert.Contains(t, wantOutput, masked(block))
	}
}

func unindented(code string) string {
	return regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(code, "")
}

// exported is what OpenTelemetry's exporter for Prometheus makes of the program's metrics: the labels of every time series.
type exported map[string]map[string]bool

func exportedBy(t *testing.T) exported {
	t.Helper()
	all := exported{}
	for _, line := range regexp.MustCompile(`(?m)^(retry_\w+)\{(.*)\} \S+$`).FindAllStringSubmatch(scraped(t), -1) {
		if all[line[1]] == nil {
			all[line[1]] = map[string]bool{"job": true, "instance": true} // the scraper's
		}
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(line[2], -1) {
			all[line[1]][label[1]] = true
		}
	}
	return all
}

// words are the values that labels can have.
func words() map[string][]string {
	outcomes := []string{observe.OutcomeSuccess, observe.OutcomeRetry, observe.OutcomeGiveUp}
	for e := retry.EndSucceeded; e <= retry.EndPanicked; e++ {
		outcomes = append(outcomes, e.String())
	}
	return map[string][]string{"retry_outcome": outcomes}
}

// check sees that an expression has nothing but what is exported: series, their labels, and values of those.
func (all exported) check(t *testing.T, expr string) {
	t.Helper()
	labels := map[string]bool{}
	selectors := regexp.MustCompile(`(retry_\w+)(?:\{([^}]*)\})?`)
	grouped := regexp.MustCompile(`by \(([^)]*)\)`)
	found := 0
	for _, selector := range selectors.FindAllStringSubmatch(grouped.ReplaceAllString(expr, ""), -1) {
		series, matchers := selector[1], selector[2]
		if !assert.Contains(t, all, series, expr) {
			continue
		}
		found++
		for label := range all[series] {
			labels[label] = true
		}
		for _, m := range regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"([^"]*)"`).FindAllStringSubmatch(matchers, -1) {
			assert.Contains(t, all[series], m[1], expr)
			if known := words()[m[1]]; known != nil {
				for _, word := range strings.Split(m[2], "|") {
					assert.Contains(t, known, word, expr)
				}
			}
		}
	}
	assert.NotZero(t, found, expr)
	for _, by := range grouped.FindAllStringSubmatch(expr, -1) {
		for _, label := range strings.Split(by[1], ", ") {
			assert.True(t, labels[label], "%s: no series has the label %s", expr, label)
		}
	}
}

// TestPrometheusNames holds the table of names and the queries to what the exporter writes.
func TestPrometheusNames(t *testing.T) {
	all, text := exportedBy(t), document(t, "observability.md")
	var inTable []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(retry\\.[a-z.]+)` \\| (`retry_.*`) \\|$").FindAllStringSubmatch(text, -1) {
		for _, series := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[2], -1) {
			inTable = append(inTable, series[1])
			assert.True(t, strings.HasPrefix(series[1], strings.ReplaceAll(row[1], ".", "_")), "%s stands beside %s", series[1], row[1])
		}
	}
	var exported []string
	for series := range all {
		exported = append(exported, series)
	}
	assert.ElementsMatch(t, exported, inTable)
	for _, expr := range blocks(t, text, "promql") {
		all.check(t, expr)
	}
}

func TestAlerts(t *testing.T) {
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For string
				Labels           struct{ Severity string }
				Annotations      struct{ Summary, Description string }
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(document(t, "observability/alerts.yaml")))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&file))
	require.Len(t, file.Groups, 1)
	all := exportedBy(t)
	var names []string
	for _, r := range file.Groups[0].Rules {
		names = append(names, r.Alert)
		all.check(t, r.Expr)
		assert.Contains(t, []string{"critical", "warning"}, r.Labels.Severity, r.Alert)
		assert.Contains(t, r.Annotations.Summary, "{{ $labels.retry_name }}", r.Alert)
		assert.NotEmpty(t, r.Annotations.Description, r.Alert)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(Retr\\w+)` \\|").FindAllStringSubmatch(document(t, "observability.md"), -1) {
		documented = append(documented, row[1])
	}
	assert.Equal(t, names, documented)
}

func TestDashboard(t *testing.T) {
	type position struct{ X, Y, W, H int }
	var dashboard struct {
		Title, UID    string
		SchemaVersion int
		Templating    struct {
			List []struct{ Name, Type, Definition string }
		}
		Panels []struct {
			ID                       int
			Title, Description, Type string
			GridPos                  position
			Datasource               struct{ UID string }
			FieldConfig              struct{ Defaults struct{ Unit string } }
			Targets                  []struct{ RefID, Expr, LegendFormat string }
		}
	}
	text := document(t, "observability/dashboard.json")
	require.NoError(t, json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&dashboard))
	require.Positive(t, dashboard.SchemaVersion)
	require.NotEmpty(t, dashboard.UID)

	all := exportedBy(t)
	variables := []string{"__rate_interval", "__range"}
	for _, v := range dashboard.Templating.List {
		variables = append(variables, v.Name)
		if v.Type == "query" {
			selector, ok := strings.CutSuffix(strings.TrimPrefix(v.Definition, "label_values("), ", "+v.Name+")")
			require.True(t, ok, v.Definition)
			all.check(t, selector)
			assert.True(t, all["retry_operation_duration_seconds_count"][v.Name], v.Name)
		}
	}
	for _, use := range regexp.MustCompile(`\$\{?(\w+)`).FindAllStringSubmatch(text, -1) {
		if use[1] != "__all" { // Grafana's choice of everything
			assert.Contains(t, variables, use[1])
		}
	}

	covered, ids := map[position]string{}, map[int]bool{}
	queries := ""
	for _, p := range dashboard.Panels {
		assert.False(t, ids[p.ID], p.ID)
		ids[p.ID] = true
		assert.NotEmpty(t, p.Description, p.Title)
		assert.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		assert.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
		assert.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				assert.Empty(t, covered[position{X: x, Y: y}], "%s covers another panel", p.Title)
				covered[position{X: x, Y: y}] = p.Title
			}
		}
		assert.NotEmpty(t, p.Targets, p.Title)
		var refs []string
		for _, target := range p.Targets {
			assert.NotContains(t, refs, target.RefID, p.Title)
			refs = append(refs, target.RefID)
			all.check(t, target.Expr)
			assert.Contains(t, target.Expr, `job=~"$job", retry_name=~"$retry_name"`, p.Title)
			queries += target.Expr
		}
	}
	var titles []string
	for _, p := range dashboard.Panels {
		titles = append(titles, p.Title)
	}
	_, onCall, _ := strings.Cut(document(t, "observability.md"), "\n## On call\n")
	onCall, _, _ = strings.Cut(onCall, "\n## ")
	asked := regexp.MustCompile(`(?m)^\*\*(.+?)\*\*`).FindAllStringSubmatch(onCall, -1)
	require.Len(t, asked, 2)
	for _, question := range asked {
		assert.Contains(t, titles, question[1])
	}
	for series := range all { // nothing is measured in vain
		base := regexp.MustCompile(`_(bucket|sum|count|total)$`).ReplaceAllString(series, "")
		assert.Contains(t, queries, base)
	}
}

// TestCollector sees that the collector looks for attributes that there are.
func TestCollector(t *testing.T) {
	var file struct {
		Receivers, Exporters map[string]any
		Processors           map[string]struct {
			Policies []struct {
				Name, Type string
				Numeric    struct{ Key string } `yaml:"numeric_attribute"`
			}
		}
		Service struct {
			Pipelines map[string]struct{ Receivers, Processors, Exporters []string }
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(document(t, "observability/collector.yaml")), &file))
	traces := file.Service.Pipelines["traces"]
	for _, name := range slices.Concat(traces.Receivers, traces.Exporters) {
		assert.True(t, file.Receivers[name] != nil || file.Exporters[name] != nil, name)
	}
	require.Equal(t, []string{"tail_sampling"}, traces.Processors)
	policies := file.Processors["tail_sampling"].Policies
	require.Len(t, policies, 3)
	require.Equal(t, "numeric_attribute", policies[0].Type)
	require.Equal(t, string(observe.KeyAttempts), policies[0].Numeric.Key)
}
