package e2e_test

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// The module that Jaeger and the collector are built in: Jaeger's go.mod chooses the versions of both.
const jaegerModule = "github.com/jaegertracing/jaeger"

const jaegerVersion = "v1.76.0"

// backends builds Jaeger and the collector, once.
func backends(t *testing.T) (jaeger, collector string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "backends")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "collector"), 0o755))
	source, err := os.ReadFile("testdata/collector/main.go")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "collector", "main.go"), source, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module backends\n\ngo 1.26.0\n"), 0o644))
	command(t, dir, "go", "get", "-tool", jaegerModule+"/cmd/all-in-one@"+jaegerVersion)
	command(t, dir, "go", "get", "./collector")
	jaeger, collector = filepath.Join(dir, "all-in-one"), filepath.Join(dir, "otelcol")
	command(t, dir, "go", "build", "-o", jaeger, jaegerModule+"/cmd/all-in-one")
	command(t, dir, "go", "build", "-o", collector, "./collector")
	return jaeger, collector
}

func TestEndToEndTraces(t *testing.T) {
	ifAsked(t)
	jaegerBinary, collectorBinary := backends(t)

	t.Run("Jaeger", func(t *testing.T) {
		j := startJaeger(t, jaegerBinary)
		command(t, "", tracedService(t), "-otlp", j.otlp)
		recovered := j.traces(t, 1, `{"retry.attempts":"3"}`)
		require.Equal(t, wantTree, recovered[0].text())
		failed := j.traces(t, 1, `{"retry.attempts":"4","retry.outcome":"exhausted"}`)
		require.Equal(t, 4, strings.Count(failed[0].text(), "shop: HTTP GET"))
		require.Contains(t, failed[0].text(), `shop: stock [internal] ERROR error.type=503 retry.attempts=4 retry.max_attempts=4 retry.name=stock retry.outcome=exhausted retry.reason="attempts exhausted"`)
		j.traces(t, 5, `{"retry.name":"stock"}`)
	})

	// With none of the rest, the chair's trace is not kept. Without the policy for failures, only what was retried is.
	t.Run("collector.yaml", func(t *testing.T) {
		require.Equal(t, []string{"1 aborted", "1 throttled", "3 success", "4 exhausted"},
			keptBy(t, jaegerBinary, collectorBinary, 4, "retried", "failed", "some of the rest"))
		require.Equal(t, []string{"3 success", "4 exhausted"},
			keptBy(t, jaegerBinary, collectorBinary, 2, "retried"))
	})
}

// keptBy runs the program, the collector with the named policies of collector.yaml, and Jaeger behind it. It returns what
// the n traces say that have come through.
func keptBy(t *testing.T, jaegerBinary, collectorBinary string, n int, policies ...string) (kept []string) {
	t.Helper()
	j := startJaeger(t, jaegerBinary)
	listen := addresses(t, 1)[0]
	text, err := os.ReadFile(filepath.Join(documents, "collector.yaml"))
	require.NoError(t, err)
	config := string(text)
	for old, new := range map[string]string{
		"sampling_percentage: 5": "sampling_percentage: 0",
		"decision_wait: 30s":     "decision_wait: 2s",
		"127.0.0.1:4318":         listen,
		"127.0.0.1:14318":        j.otlp,
	} {
		require.Equal(t, 1, strings.Count(config, old), old)
		config = strings.Replace(config, old, new, 1)
	}
	var parsed map[string]map[string]map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(config), &parsed))
	sampling := parsed["processors"]["tail_sampling"]
	var chosen []any
	for _, p := range sampling["policies"].([]any) {
		if slices.Contains(policies, fmt.Sprint(p.(map[string]any)["name"])) {
			chosen = append(chosen, p)
		}
	}
	require.Len(t, chosen, len(policies))
	sampling["policies"] = chosen
	parsed["service"]["telemetry"] = map[string]any{"metrics": map[string]any{"level": "none"}} // they would be at port 8888
	changed, err := yaml.Marshal(parsed)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "collector.yaml")
	require.NoError(t, os.WriteFile(file, changed, 0o644))

	c := start(t, collectorBinary, "--config="+file)
	eventually(t, c, func() error {
		if !strings.Contains(c.output(), "Everything is ready") {
			return fmt.Errorf("the collector is not ready")
		}
		return nil
	})
	command(t, "", tracedService(t), "-otlp", listen)
	for _, trace := range j.traces(t, n, `{"retry.name":"stock"}`) {
		for _, s := range trace.Spans {
			if attempts := s.tag("retry.attempts"); attempts != "" {
				kept = append(kept, attempts+" "+s.tag("retry.outcome"))
			}
		}
	}
	slices.Sort(kept)
	return kept
}

// wantTree is the trace of the lamp. What is in brackets is the span's kind.
const wantTree = `shop: GET /articles/{name} [server] http.response.status_code=200
  shop: stock [internal] retry.attempts=3 retry.max_attempts=4 retry.name=stock retry.outcome=success
    shop: stock attempt [internal] ERROR error.type=502 retry.attempt=1 retry.delay.source=policy retry.name=stock retry.outcome=retry
      shop: HTTP GET [client] ERROR error.type=502 http.response.status_code=502
        stock: GET /stock/{name} [server] ERROR http.response.status_code=502
    shop: stock attempt [internal] ERROR error.type=503 retry.attempt=2 retry.delay.source=server retry.hint.delay=0.15 retry.hint.source=retry-after-ms retry.name=stock retry.outcome=retry
      shop: HTTP GET [client] ERROR error.type=503 http.request.resend_count=1 http.response.status_code=503
        stock: GET /stock/{name} [server] ERROR http.response.status_code=503
    shop: stock attempt [internal] retry.attempt=3 retry.name=stock retry.outcome=success
      shop: HTTP GET [client] http.request.resend_count=2 http.response.status_code=200
        stock: GET /stock/{name} [server] http.response.status_code=200
`

// jaeger is a Jaeger that runs.
type jaeger struct {
	*process
	otlp, query string
}

func startJaeger(t *testing.T, binary string) *jaeger {
	t.Helper()
	free := addresses(t, 7)
	j := &jaeger{otlp: free[0], query: free[1]}
	j.process = start(t, binary,
		"--collector.otlp.enabled=true",
		"--collector.otlp.http.host-port="+j.otlp,
		"--query.http-server.host-port="+j.query,
		"--collector.otlp.grpc.host-port="+free[2],
		"--query.grpc-server.host-port="+free[3],
		"--collector.grpc-server.host-port="+free[4],
		"--collector.http-server.host-port="+free[5],
		"--admin.http.host-port="+free[6],
	)
	var services any
	eventually(t, j.process, func() error { return get("http://"+free[6]+"/", &services) })
	return j
}

// traces returns the traces of the shop that have a span with the tags, as soon as there are n of them.
func (j *jaeger) traces(t *testing.T, n int, tags string) (traces []jaegerTrace) {
	t.Helper()
	query := url.Values{"service": {"shop"}, "tags": {tags}, "limit": {"100"}, "lookback": {"1h"}}
	eventually(t, j.process, func() error {
		var answer struct{ Data []jaegerTrace }
		if err := get("http://"+j.query+"/api/traces?"+query.Encode(), &answer); err != nil {
			return err
		}
		if traces = answer.Data; len(traces) != n {
			return fmt.Errorf("%d traces with %s, not %d", len(traces), tags, n)
		}
		return nil
	})
	return traces
}

// jaegerTrace is a trace as Jaeger's API has it.
type jaegerTrace struct {
	Spans     []jaegerSpan
	Processes map[string]struct{ ServiceName string }
}

type jaegerSpan struct {
	SpanID, OperationName, ProcessID string
	References                       []struct{ SpanID string }
	StartTime                        int64
	Tags                             []struct {
		Key   string
		Value any
	}
}

// tag is the value of a tag.
func (s jaegerSpan) tag(key string) string {
	for _, tag := range s.Tags {
		if tag.Key == key {
			return fmt.Sprint(tag.Value)
		}
	}
	return ""
}

// text is the tree of spans, with what is the same each time.
func (trace jaegerTrace) text() string {
	slices.SortFunc(trace.Spans, func(a, b jaegerSpan) int { return cmp.Compare(a.StartTime, b.StartTime) })
	var b strings.Builder
	var below func(parent string, depth int)
	below = func(parent string, depth int) {
		for _, s := range trace.Spans {
			above := ""
			if len(s.References) > 0 {
				above = s.References[0].SpanID
			}
			if above != parent {
				continue
			}
			kind, status := "", ""
			var shown []string
			for _, tag := range s.Tags {
				value := fmt.Sprint(tag.Value)
				if strings.Contains(value, " ") {
					value = fmt.Sprintf("%q", value)
				}
				switch key := tag.Key; {
				case key == "span.kind":
					kind = value
				case key == "otel.status_code":
					status = " " + value
				case key == "retry.delay", key == "retry.delay.total": // drawn at random
				case strings.HasPrefix(key, "retry."), key == "error.type", key == "http.response.status_code", key == "http.request.resend_count":
					shown = append(shown, key+"="+value)
				}
			}
			slices.Sort(shown)
			fmt.Fprintf(&b, "%s%s: %s [%s]%s %s\n", strings.Repeat("  ", depth), trace.Processes[s.ProcessID].ServiceName,
				s.OperationName, kind, status, strings.Join(shown, " "))
			below(s.SpanID, depth+1)
		}
	}
	below("", 0)
	return b.String()
}
