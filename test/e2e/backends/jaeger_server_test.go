package backends_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// jaeger is a running Jaeger, with its URLs for spans over gRPC and HTTP and for queries.
type jaeger struct {
	grpc, http, query string
	log               *harness.LogBuffer
}

// startJaeger runs Jaeger until the test ends.
func startJaeger(t *testing.T) *jaeger {
	t.Helper()
	binary := harness.Component(t, "jaeger", "jaeger-all-in-one")
	var addresses [4]string
	for i := range addresses {
		addresses[i] = loopback.FreeAddress(t)
	}
	j := &jaeger{grpc: "http://" + addresses[0], http: "http://" + addresses[1], query: "http://" + addresses[2], log: &harness.LogBuffer{}}
	command := subprocess.Command(binary,
		"--collector.otlp.grpc.host-port="+addresses[0], "--collector.otlp.http.host-port="+addresses[1],
		"--query.http-server.host-port="+addresses[2], "--admin.http.host-port="+addresses[3],
		// These are not used.
		"--query.grpc-server.host-port=127.0.0.1:0", "--collector.grpc-server.host-port=127.0.0.1:0", "--collector.http-server.host-port=127.0.0.1:0")
	command.Env = []string{"SPAN_STORAGE_TYPE=memory"} // without OTEL_*, which Jaeger would follow
	command.Stdout, command.Stderr = j.log, j.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // with SIGTERM Jaeger would wait for our idle connections
		_ = command.Wait()
	})
	harness.Await(t, func(context.Context) error {
		status, _, err := harness.Request(http.MethodGet, "http://"+addresses[3]+"/", "")
		if err != nil || !strings.HasPrefix(status, "200") {
			return fmt.Errorf("Jaeger is not up: %s %w\n%s", status, err, j.log)
		}
		return nil
	})
	return j
}

// get decodes the data of the API's answer for a path.
func (j *jaeger) get(path string, data any) error {
	status, body, err := harness.Request(http.MethodGet, j.query+path, "")
	if err != nil {
		return err
	}
	var answer struct{ Data json.RawMessage }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || !strings.HasPrefix(status, "200") {
		return errors.Join(fmt.Errorf("%s: %s: %s", path, status, body), err)
	}
	return json.Unmarshal(answer.Data, data)
}

// send posts a line of OTLP/JSON.
func (j *jaeger) send(t *testing.T, line []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "line.json")
	if err := os.WriteFile(file, line, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, answer, err := harness.Request(http.MethodPost, j.http+"/v1/traces", file); err != nil || !strings.HasPrefix(status, "200") {
		t.Fatal(status, answer, err)
	}
}

// jaegerTrace is an adjusted trace as Jaeger's own page gets it.
type jaegerTrace struct {
	TraceID string
	Spans   []jaegerSpan
}

type jaegerSpan struct {
	SpanID, OperationName string
	StartTime, Duration   int64 // microseconds, each rounded down
	References            []struct{ RefType, TraceID, SpanID string }
	Tags                  []struct {
		Key   string
		Value any
	}
	Warnings []string
}

func (j *jaeger) fetch(id string) (jaegerTrace, error) {
	var traces []jaegerTrace
	if err := j.get("/api/traces/"+id, &traces); err != nil {
		return jaegerTrace{}, err
	}
	if len(traces) != 1 {
		return jaegerTrace{}, fmt.Errorf("%d traces are %s", len(traces), id)
	}
	return traces[0], nil
}

// trace waits until a trace has all its spans.
func (j *jaeger) trace(t *testing.T, id string, spans int) (whole jaegerTrace) {
	t.Helper()
	harness.Await(t, func(context.Context) (err error) {
		if whole, err = j.fetch(id); err == nil && len(whole.Spans) < spans {
			err = fmt.Errorf("trace %s has not all of %d spans: %+v", id, spans, whole)
		}
		return err
	})
	return whole
}

// span waits until a span is in its trace.
func (j *jaeger) span(t *testing.T, trace, id string) (found jaegerSpan) {
	t.Helper()
	harness.Await(t, func(context.Context) error {
		tr, err := j.fetch(trace)
		if err != nil {
			return err
		}
		var known bool
		if found, known = tr.span(id); !known {
			return fmt.Errorf("span %s is not in trace %s: %+v", id, trace, tr)
		}
		return nil
	})
	return found
}

func (s jaegerSpan) parent() string {
	for _, r := range s.References {
		if r.RefType == "CHILD_OF" {
			return r.SpanID
		}
	}
	return ""
}

func (s jaegerSpan) tag(key string) string {
	for _, tag := range s.Tags {
		if tag.Key == key {
			return fmt.Sprint(tag.Value)
		}
	}
	return ""
}

func (tr jaegerTrace) span(id string) (jaegerSpan, bool) {
	i := slices.IndexFunc(tr.Spans, func(s jaegerSpan) bool { return s.SpanID == id })
	if i < 0 {
		return jaegerSpan{}, false
	}
	return tr.Spans[i], true
}

// proxied returns the id of the proxy's own span if it is the root.
func (tr jaegerTrace) proxied() string {
	for _, s := range tr.Spans {
		if s.OperationName == "POST /run_sse" && len(s.References) == 0 {
			return s.SpanID
		}
	}
	return ""
}

// check reports what users of Jaeger would find wrong in a trace. r is the report of its run, above the parent of the run's span.
func (j *jaeger) check(t *testing.T, name string, trace jaegerTrace, r tracker.Report, above string) {
	t.Helper()
	for _, fault := range trace.faults(r, above) {
		t.Errorf("%s: %s", name, fault)
	}
	var want, got []string
	for _, l := range r.Links {
		want = append(want, harness.Text(l.Run))
	}
	for _, s := range trace.Spans {
		for _, ref := range s.References {
			if ref.TraceID == trace.TraceID {
				continue
			}
			if s.SpanID != r.Operations[0].ID {
				t.Errorf("%s: %s links to another run: %v", name, s.OperationName, ref)
			}
			got = append(got, j.span(t, ref.TraceID, ref.SpanID).tag("delegraph.run.id"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the links to other runs:\n%s", name, diff)
	}
}

// faults returns what is wrong in the trace itself.
func (tr jaegerTrace) faults(r tracker.Report, above string) (all []string) {
	type node struct{ Name, Parent string }
	want, got := map[string]node{}, map[string]node{}
	for _, op := range r.Operations {
		want[op.ID] = node{spanName(op), above}
		if op.Parent != nil {
			want[op.ID] = node{spanName(op), *op.Parent}
		}
	}
	var handed, linked []string
	for _, x := range r.Transfers {
		handed = append(handed, harness.Text(x.From)+" to "+x.To)
	}
	for _, s := range tr.Spans {
		if s.SpanID != above {
			got[s.SpanID] = node{s.OperationName, s.parent()}
		}
		if len(s.Warnings) > 0 {
			all = append(all, fmt.Sprintf("warned of %s: %q", s.OperationName, s.Warnings))
		}
		switch parent, known := tr.span(s.parent()); {
		case s.parent() == "":
		case !known:
			all = append(all, s.OperationName+" has no parent: "+s.parent())
		// The end of a span is the sum of two numbers that were rounded down.
		case s.Duration < 0, s.StartTime < parent.StartTime, s.StartTime+s.Duration > parent.StartTime+parent.Duration+1:
			all = append(all, fmt.Sprintf("%s lies outside %s: %d+%d µs and %d+%d µs",
				s.OperationName, parent.OperationName, s.StartTime, s.Duration, parent.StartTime, parent.Duration))
		}
		for _, ref := range s.References {
			if call, known := tr.span(ref.SpanID); ref.RefType == "FOLLOWS_FROM" && known && s.OperationName == "invoke_agent "+call.tag("gen_ai.agent.handoff.target.name") {
				linked = append(linked, call.tag("gen_ai.agent.handoff.source.name")+" to "+call.tag("gen_ai.agent.handoff.target.name"))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		all = append(all, "the tree: reported (-) and shown (+)\n"+diff)
	}
	slices.Sort(handed)
	slices.Sort(linked)
	if diff := cmp.Diff(handed, linked); diff != "" {
		all = append(all, "the transfers: reported (-) and linked (+)\n"+diff)
	}
	return all
}

// spanName returns the name of the span of an operation.
func spanName(op tracker.OperationReport) string {
	if op.Name == nil {
		return string(op.Kind)
	}
	return string(op.Kind) + " " + *op.Name
}
