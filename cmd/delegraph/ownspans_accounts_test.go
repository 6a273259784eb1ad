package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// modelAccount adds to an account how many model calls failed.
type modelAccount struct {
	account
	ModelErrors int
}

// difference names what of the two accounts of a run cannot be equal, and why.
type difference struct {
	fields string // of a modelAccount, in their order
	why    string
}

// checkAccounts holds the counts and verdicts of both sides against each other.
func (l language) checkAccounts(t *testing.T, r *doubleRun) {
	t.Helper()
	ours, own := modelAccount{account: ourAccount(r.report)}, accountOf(r.own)
	for _, op := range r.report.Operations {
		if op.Kind == tracker.Chat && op.Status == "error" {
			ours.ModelErrors++
		}
	}
	expected, found := l.differs[r.name()]
	if !found {
		expected = l.differs[r.story]
	}
	if got := strings.Join(differing(ours, own), " "); got != expected.fields {
		t.Errorf("they differ in %q, expected was %q (%s)\nours        %+v\nthe agent's %+v", got, expected.fields, expected.why, ours, own)
	}
	if server := r.ours.one(t, "POST /run_sse"); l.continues != bytes.Equal(server.TraceId, r.own[0].TraceId) {
		t.Errorf("the agent's trace is %x, ours %x", r.own[0].TraceId, server.TraceId)
	}
}

// differing lists the fields in which they differ; no tools and an empty list of them are the same.
func differing(a, b modelAccount) (fields []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[modelAccount]()) {
		x, y := reflect.ValueOf(a).FieldByIndex(f.Index), reflect.ValueOf(b).FieldByIndex(f.Index)
		if bothEmpty := f.Type.Kind() == reflect.Slice && x.Len()+y.Len() == 0; !f.Anonymous && !bothEmpty && !reflect.DeepEqual(x.Interface(), y.Interface()) {
			fields = append(fields, f.Name)
		}
	}
	return fields
}

func accountOf(own spanTree) (a modelAccount) {
	var spans []agentSpan
	for _, s := range own {
		plain := plainSpan(s)
		spans = append(spans, plain)
		if plain.Status == "Error" && plain.Attrs["gen_ai.operation.name"] == "generate_content" {
			a.ModelErrors++
		}
	}
	a.account = agentAccount(spans)
	return a
}

// plainSpan is an agent's span in the one form that all agents' spans are judged in.
func plainSpan(s *tracepb.Span) agentSpan {
	plain := agentSpan{Name: s.Name, Attrs: map[string]any{}}
	if s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		plain.Status = "Error"
	}
	for _, a := range s.Attributes {
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			plain.Attrs[a.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			plain.Attrs[a.Key] = float64(v.IntValue)
		}
	}
	// JavaScript's have no attributes where something failed, and a model call's never say what it is.
	operation, object, _ := strings.Cut(s.Name, " ")
	switch {
	case operation == "call_llm":
		plain.Attrs["gen_ai.operation.name"] = "generate_content"
	case operation == "execute_tool" && plain.Attrs["gen_ai.operation.name"] == nil:
		plain.Attrs["gen_ai.operation.name"], plain.Attrs["gen_ai.tool.name"] = operation, object
	}
	return plain
}
