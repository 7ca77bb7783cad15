package observe_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// table returns the rows below the header of a table in docs/observability.md, without the marks of code.
func table(t *testing.T, header string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/observability.md")
	require.NoError(t, err)
	_, below, ok := strings.Cut(string(text), "\n"+header+"\n|---")
	require.True(t, ok, header)
	for _, line := range strings.Split(below, "\n")[1:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), " |") {
			cells = append(cells, strings.TrimSpace(strings.ReplaceAll(cell, "`", "")))
		}
		rows = append(rows, cells)
	}
	require.NotEmpty(t, rows)
	return rows
}

// constants returns the values of the constants in names.go whose names begin with prefix.
func constants(t *testing.T, prefix string) (values []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
			value, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			values = append(values, value)
		} else { // of the conventions
			require.Equal(t, "KeyErrorType", spec.Names[0].Name)
			values = append(values, string(observe.KeyErrorType))
		}
		return true
	})
	require.NotEmpty(t, values)
	return values
}

func column(rows [][]string, i int) (cells []string) {
	for _, row := range rows {
		if !slices.Contains(cells, row[i]) {
			cells = append(cells, row[i])
		}
	}
	return cells
}

const keyHeader = "| key | type | spans | metrics | log lines | meaning |"

// TestDocumentedSpanKeys: the table of keys has every one of the package, and each on the spans that the golden files have it on.
func TestDocumentedSpanKeys(t *testing.T) {
	var ofSpans []string
	documented := map[string]bool{}
	for _, row := range table(t, keyHeader) {
		for _, kind := range []string{"operation", "attempt"} {
			if strings.HasPrefix(row[2], kind) || strings.HasPrefix(row[2], "both") || strings.HasSuffix(row[2], "*") {
				documented[kind+" "+row[0]] = true
				ofSpans = append(ofSpans, row[0])
			}
		}
	}
	slices.Sort(ofSpans)
	assert.ElementsMatch(t, constants(t, "Key"), slices.Compact(ofSpans))

	files, err := filepath.Glob("testdata/*.golden")
	require.NoError(t, err)
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		spans, _, _ := strings.Cut(string(text), "\nmetrics\n")
		kind := ""
		for line := range strings.Lines(spans) {
			if span := regexp.MustCompile(`^ *(\S.*) \[internal\]`).FindStringSubmatch(line); span != nil {
				kind = "operation"
				if strings.HasSuffix(span[1], "attempt") {
					kind = "attempt"
				}
			} else if a := regexp.MustCompile(`^ +([a-z._]+)=`).FindStringSubmatch(line); a != nil {
				found[kind+" "+a[1]] = true
			}
		}
	}
	delete(documented, "operation retry.hint.delay") // a told wait is on the operation only where attempts have no spans,
	delete(documented, "operation retry.hint.source")
	delete(found, "operation retry.hint.delay") // which not every golden file of those shows
	delete(found, "operation retry.hint.source")
	assert.Equal(t, documented, found)
}

// TestDocumentedOutcomes: all the words of operations and attempts, in the tables and in the rows of attributes.
func TestDocumentedOutcomes(t *testing.T) {
	var endings []string
	for e := retry.EndSucceeded; e <= retry.EndPanicked; e++ {
		endings = append(endings, e.String())
	}
	require.Equal(t, "invalid", (retry.EndPanicked + 1).String(), "a new ending needs a line here")
	assert.Equal(t, endings, column(table(t, "| `retry.outcome` | why the operation ended | reasons |"), 0))
	sources := []string{retry.SourcePolicy.String(), retry.SourceServer.String(), retry.SourceThrottle.String()}
	for _, row := range table(t, keyHeader) {
		switch {
		case row[0] == string(observe.KeyOutcome) && row[2] == "operation":
			assert.Equal(t, strings.Join(endings, ", "), row[5])
		case row[0] == string(observe.KeyOutcome):
			assert.Equal(t, strings.Join(constants(t, "Outcome"), ", "), row[5])
		case row[0] == string(observe.KeyDelaySource):
			assert.Equal(t, "who asked for that wait: "+strings.Join(sources, ", "), row[5])
		}
	}
}

// TestDocumentedMetrics: instruments, units, attributes and buckets are those that a reader gets.
func TestDocumentedMetrics(t *testing.T) {
	rows := table(t, "| metric | instrument | unit | attributes besides `retry.name` | advised buckets |")
	assert.ElementsMatch(t, constants(t, "Metric"), column(rows, 0))

	r := record(observe.WithActiveOperations())
	fail := func(context.Context) error { return errRefused }
	refuse := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, errInvalid })
	options := retry.MustNew(retry.WithName("n"), retry.WithMaxAttempts(2), retry.WithStrategy(strategy.Constant{Delay: ms}),
		retry.WithObserver(r.observer), retry.WithClock(retrytest.NewClock()))
	require.Error(t, retry.Run(t.Context(), fail, options))
	require.Error(t, retry.Run(t.Context(), fail, options, retry.WithThrottle(refuse)))
	buckets := map[string]string{}
	for _, row := range rows {
		buckets[row[0]] = row[4]
	}
	for _, m := range r.collect(t) {
		i := slices.IndexFunc(rows, func(row []string) bool { return row[0] == m.Name })
		require.GreaterOrEqual(t, i, 0, m.Name)
		row := rows[i]
		var instrument, bounds string
		var series []attribute.Set
		switch data := m.Data.(type) {
		case metricdata.Histogram[float64]:
			instrument = "histogram, float"
			for _, p := range data.DataPoints {
				series, bounds = append(series, p.Attributes), strings.Trim(fmt.Sprint(p.Bounds), "[]")
			}
		case metricdata.Histogram[int64]:
			instrument = "histogram, int"
			for _, p := range data.DataPoints {
				series, bounds = append(series, p.Attributes), strings.Trim(fmt.Sprint(p.Bounds), "[]")
			}
		case metricdata.Sum[int64]:
			instrument = "up-down counter"
			if data.IsMonotonic {
				instrument = "counter"
			}
			for _, p := range data.DataPoints {
				series = append(series, p.Attributes)
			}
		}
		assert.Equal(t, instrument, row[1], m.Name)
		assert.Equal(t, m.Unit, row[2], m.Name)
		if other, ok := strings.CutPrefix(row[4], "those of "); ok {
			row[4] = buckets[other]
		}
		assert.Equal(t, bounds, row[4], m.Name)
		keys := map[string]bool{}
		for _, set := range series {
			for _, a := range set.ToSlice() {
				keys[string(a.Key)] = true
			}
		}
		delete(keys, string(observe.KeyName))
		var named []string
		for key := range keys {
			named = append(named, key)
		}
		assert.ElementsMatch(t, regexp.MustCompile(`[a-z]+\.[a-z.]+`).FindAllString(row[3], -1), named, m.Name)
		var inKeys []string
		for _, key := range table(t, keyHeader) {
			if slices.Contains(strings.Split(key[3], ", "), m.Name) {
				inKeys = append(inKeys, key[0])
			}
		}
		assert.ElementsMatch(t, inKeys, named, m.Name)
	}
	require.Len(t, r.collect(t), len(rows), "every metric was there to see")
}

// TestDocumentedErrorTypes: the package's own words, its limits and its scope.
func TestDocumentedErrorTypes(t *testing.T) {
	text, err := os.ReadFile("../docs/observability.md")
	require.NoError(t, err)
	source, err := os.ReadFile("errortype.go")
	require.NoError(t, err)
	own := regexp.MustCompile(`(?m)^var ownTypes = \[\]string\{"", (.*)\}$`).FindSubmatch(source)
	require.NotNil(t, own)
	for _, word := range strings.Split(string(own[1]), ", ") {
		assert.Contains(t, string(text), "`"+strings.Trim(word, `"`)+"`")
	}
	flat := strings.Join(strings.Fields(string(text)), " ")
	assert.Contains(t, flat, fmt.Sprintf("uses %d values at most", observe.ErrorTypeLimit))
	assert.Contains(t, flat, fmt.Sprintf("%d names (later ones are `_OTHER`), eight outcomes, %d values of `error.type`", observe.NameLimit, observe.ErrorTypeLimit+1))
	assert.Contains(t, flat, "`"+observe.ScopeName+"`")
	assert.Contains(t, flat, "`"+observe.SchemaURL+"`")
}
