package metrics

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/delegraph/delegraph/collector/event"
)

// TestErrorCodesAreBounded checks that codes beyond the cap share one series, while our own classes and successful calls keep
// theirs.
func TestErrorCodesAreBounded(t *testing.T) {
	const name = "gen_ai_client_operation_duration_seconds"
	m, reg := newTest(2, 1000)
	for i := range 5000 {
		ends(m, coded(fmt.Sprint("E", i), chat("m", event.ModelError)))
	}
	ends(m, chat("m", ""), chat("m", event.ModelError), chat("m", event.FailureTimeout))
	want := []string{
		`error_type="",gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 1 of 1`,
		`error_type="E0",gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 1 of 1`,
		`error_type="E1",gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 1 of 1`,
		`error_type="_other",gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 4998 of 4998`,
		`error_type="model_error",gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 1 of 1`,
		`error_type="timeout",gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 1 of 1`,
	}
	if diff := cmp.Diff(want, series(t, reg, name)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if n := testutil.ToFloat64(m.caps.overflow.WithLabelValues("error")); n != 4998 {
		t.Errorf("%v codes are counted", n)
	}
}

// TestErrorTypesOfManySets checks that successful calls never count as errors when the limit on
// label sets is reached, also by tools that the configuration names.
func TestErrorTypesOfManySets(t *testing.T) {
	m, reg := newTest(1000, 100)
	configured, withTools := newTest(1000, 100)
	for i := range 500 {
		name := fmt.Sprint("t", i)
		configured.caps.reserve("tool", name)
		for _, m := range []*Metrics{m, configured} {
			ends(m, tool(name, ""), coded("NOT_FOUND", tool(name, event.ToolError)))
		}
	}
	checkOutcomes(t, reg)
	checkOutcomes(t, withTools)
}

// checkOutcomes checks that 500 calls have succeeded and 500 failed, in at most 100 label sets.
func checkOutcomes(t *testing.T, reg *prometheus.Registry) {
	t.Helper()
	all := gathered(t, reg, "gen_ai_execute_tool_duration_seconds")
	if len(all) > 100 {
		t.Errorf("%d label sets", len(all))
	}
	outcomes := map[string]uint64{}
	for _, s := range all {
		for _, l := range s.Label {
			if l.GetName() == "error_type" {
				outcomes[l.GetValue()] += s.Histogram.GetSampleCount()
			}
		}
	}
	if outcomes[""] != 500 || outcomes["NOT_FOUND"]+outcomes["_other"] != 500 || len(outcomes) > 3 {
		t.Errorf("calls by error: %v", outcomes)
	}
}
