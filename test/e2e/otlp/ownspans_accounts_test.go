package otlp_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// modelAccount adds the number of failed model calls to an account.
type modelAccount struct {
	account
	ModelErrors int
}

// difference names the fields in which the two accounts of a run cannot agree, and why.
type difference struct {
	fields string // of a modelAccount, in their order
	why    string
}

// checkAccounts compares the counts and statuses of both sides.
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
		t.Errorf("the accounts differ in %q, want %q (%s)\nours        %+v\nthe agent's %+v", got, expected.fields, expected.why, ours, own)
	}
	if server := r.ours.One(t, "POST /run_sse"); l.continues != bytes.Equal(server.TraceId, r.own[0].TraceId) {
		t.Errorf("the agent's trace is %x, ours %x", r.own[0].TraceId, server.TraceId)
	}
}

// differing returns the fields that differ. No tools equal an empty list of tools.
func differing(a, b modelAccount) (fields []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[modelAccount]()) {
		x, y := reflect.ValueOf(a).FieldByIndex(f.Index), reflect.ValueOf(b).FieldByIndex(f.Index)
		if bothEmpty := f.Type.Kind() == reflect.Slice && x.Len()+y.Len() == 0; !f.Anonymous && !bothEmpty && !reflect.DeepEqual(x.Interface(), y.Interface()) {
			fields = append(fields, f.Name)
		}
	}
	return fields
}

func accountOf(own harness.SpanTree) (a modelAccount) {
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

// plainSpan returns an agent's span in the common form for comparison.
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
	// JavaScript's spans have no attributes after a failure, and those of model calls never have an operation.
	operation, object, _ := strings.Cut(s.Name, " ")
	switch {
	case operation == "call_llm":
		plain.Attrs["gen_ai.operation.name"] = "generate_content"
	case operation == "execute_tool" && plain.Attrs["gen_ai.operation.name"] == nil:
		plain.Attrs["gen_ai.operation.name"], plain.Attrs["gen_ai.tool.name"] = operation, object
	}
	return plain
}
