package langgraph

import (
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// TestAsked checks which IDs state when a run was asked for, or a model: UUIDs of version 7.
func TestAsked(t *testing.T) {
	const hex, other = "0190a1b2-c3d4-7abc-8def-0123456789ab", "0190a1b2-c3d4-4abc-8def-0123456789ab"
	at := time.UnixMilli(0x0190a1b2c3d4)
	for _, test := range []struct {
		name, run, message string
		asked, model       time.Time
	}{
		{"both", hex, "lc_run--" + hex, at, at},
		{"the first generation of several", hex, "lc_run--" + hex + "-0", at, at},
		{"LangGraph.js", hex, "run-" + hex, at, at},
		{"random IDs", other, "lc_run--" + other, time.Time{}, time.Time{}},
		{"the model's server numbers messages", hex, "msg_" + hex, at, time.Time{}},
		{"a node has written it", hex, "run-" + hex + "-out-0", at, time.Time{}},
		{"an ID that is cut off", hex[:35], "lc_run--" + hex[:35], time.Time{}, time.Time{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := (Dialect{}).New(&event.Stream{})
			var asked, model time.Time
			for _, one := range []sent{
				{"metadata", `{"run_id":"` + test.run + `","attempt":1}`},
				{"messages", `[{"type":"AIMessageChunk","id":"` + test.message + `","content":"x"},{"langgraph_node":"w","langgraph_checkpoint_ns":"w:1"}]`},
			} {
				b := new(event.Batch)
				b.Begin(new(event.Stream), frameOf(one.name, one.data).Frame, time.Time{})
				b.Parse(200)
				d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
				for _, e := range b.Events {
					switch e.Kind {
					case event.KindRunStarted:
						asked = e.Asked
					case event.KindModelStarted:
						model = e.Asked
					}
				}
			}
			if !asked.Equal(test.asked) || !model.Equal(test.model) {
				t.Errorf("the run at %v, the model at %v, want %v and %v", asked, model, test.asked, test.model)
			}
		})
	}
}
