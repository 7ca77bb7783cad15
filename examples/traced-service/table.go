package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/seed-89b3229b/retry/observe"
)

// row is a time series: one metric with one set of attributes.
type row struct {
	metric, unit string
	attributes   attribute.Set
	count        uint64  // of a histogram
	sum          float64 // of its values; of a counter, the value
}

// rows reads the metrics of package observe, as they are now.
func (t *telemetry) rows(ctx context.Context) (rows []row, err error) {
	var all metricdata.ResourceMetrics
	if err := t.reader.Collect(ctx, &all); err != nil {
		return nil, err
	}
	for _, scope := range all.ScopeMetrics {
		if scope.Scope.Name != observe.ScopeName {
			continue
		}
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					rows = append(rows, row{m.Name, m.Unit, p.Attributes, p.Count, p.Sum})
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					rows = append(rows, row{m.Name, m.Unit, p.Attributes, p.Count, float64(p.Sum)})
				}
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					rows = append(rows, row{m.Name, m.Unit, p.Attributes, 0, float64(p.Value)})
				}
			}
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.key(), b.key()) })
	return rows, nil
}

func (r row) key() string { return r.metric + " " + r.labels() }

func (r row) labels() string {
	return strings.ReplaceAll(r.attributes.Encoded(attribute.DefaultEncoder()), ",", " ")
}

func (r row) is(key attribute.Key, value string) bool {
	v, ok := r.attributes.Value(key)
	return ok && v.AsString() == value
}

// table is the rows as text.
func table(rows []row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "metric\tattributes\tcount\tsum\tunit\n")
	for _, r := range rows {
		count := ""
		if r.count > 0 {
			count = fmt.Sprint(r.count)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.4g\t%s\n", r.metric, r.labels(), count, r.sum, r.unit)
	}
	w.Flush()
	return b.String()
}
