package formats_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/schema"
)

// TestNormalizedSchema checks every event of every capture against the published schema. The schema has every kind of event
// except one that no signal needs and one that only internal frames state.
func TestNormalizedSchema(t *testing.T) {
	events, err := schema.Read("../../../docs/reference/events.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	kinds := events["properties"].(map[string]any)["kind"].(map[string]any)["enum"].([]any)
	for _, k := range event.Kinds() {
		if slices.Contains(kinds, any(k.String())) == (k == event.KindOther || k == event.KindIteration) {
			t.Errorf("the schema is wrong about the kind %s", k)
		}
	}
	seen := map[string]bool{}
	everyCapture(t, func(name, file string) {
		for _, policy := range harness.Policies {
			for _, f := range harness.Frames(t, harness.ReplayAs(t, policy, "normalized", file)) {
				var v map[string]any
				if err := json.Unmarshal(f.Data, &v); err != nil {
					t.Fatal(err)
				}
				if fault := schema.Check(events, v); fault != "" {
					t.Errorf("%s, %s: %s: %s", name, policy, fault, f.Data)
				}
				for member := range v {
					seen[member] = true
				}
			}
		}
	})
	for member := range events["properties"].(map[string]any) {
		if !seen[member] && member != "adopted" && member != "steps" && member != "truncated" { // TestLongTexts has the last
			t.Errorf("no capture has the member %s", member)
		}
	}
	for _, wrong := range []map[string]any{
		{"kind": "text"}, {"kind": "text", "frame": "f", "index": 0.0, "source": "s", "dialect": "d", "text": nil, "partial": true},
		{"kind": "x", "frame": "f", "index": 0.0, "source": "s", "dialect": "d"},
		{"kind": "final", "frame": "f", "index": 0.5, "source": "s", "dialect": "d"},
		{"kind": "final", "frame": "f", "index": 0.0, "source": "s", "dialect": "d", "more": 1.0},
	} {
		if schema.Check(events, wrong) == "" {
			t.Errorf("the schema takes %v", wrong)
		}
	}
}
