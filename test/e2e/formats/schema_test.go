package formats_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestNormalizedSchema checks every event of every capture against the published schema. The schema has every kind of event
// except one that no signal needs and one that only internal frames state.
func TestNormalizedSchema(t *testing.T) {
	content, err := os.ReadFile("../../../docs/reference/events.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(content, &schema); err != nil {
		t.Fatal(err)
	}
	kinds := schema["properties"].(map[string]any)["kind"].(map[string]any)["enum"].([]any)
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
				if fault := breaks(schema, v); fault != "" {
					t.Errorf("%s, %s: %s: %s", name, policy, fault, f.Data)
				}
				for member := range v {
					seen[member] = true
				}
			}
		}
	})
	for member := range schema["properties"].(map[string]any) {
		if !seen[member] && member != "adopted" && member != "steps" {
			t.Errorf("no capture has the member %s", member)
		}
	}
	for _, wrong := range []map[string]any{
		{"kind": "text"}, {"kind": "text", "frame": "f", "index": 0.0, "source": "s", "dialect": "d", "text": nil, "partial": true},
		{"kind": "x", "frame": "f", "index": 0.0, "source": "s", "dialect": "d"},
		{"kind": "final", "frame": "f", "index": 0.5, "source": "s", "dialect": "d"},
		{"kind": "final", "frame": "f", "index": 0.0, "source": "s", "dialect": "d", "more": 1.0},
	} {
		if breaks(schema, wrong) == "" {
			t.Errorf("the schema takes %v", wrong)
		}
	}
}

// breaks returns how a value breaks a schema. It knows only the keywords of our schema.
func breaks(schema map[string]any, v any) string {
	for word, rule := range schema {
		if fault := breaksRule(schema, word, rule, v); fault != "" {
			return fault
		}
	}
	return ""
}

func breaksRule(schema map[string]any, word string, rule, v any) string {
	members, _ := v.(map[string]any)
	switch word {
	case "type":
		number, isNumber := v.(float64)
		is := map[string]bool{"string": reflect.TypeOf(v) == reflect.TypeFor[string](), "object": members != nil, "number": isNumber, "integer": isNumber && number == math.Trunc(number)}
		_, is["array"] = v.([]any)
		_, is["boolean"] = v.(bool)
		if !is[rule.(string)] {
			return fmt.Sprintf("%v is no %s", v, rule)
		}
	case "enum":
		if !slices.Contains(rule.([]any), v) {
			return fmt.Sprintf("%v is none of %v", v, rule)
		}
	case "const":
		if v != rule {
			return fmt.Sprintf("%v is not %v", v, rule)
		}
	case "minimum", "maximum":
		if n, _ := v.(float64); word == "minimum" && n < rule.(float64) || word == "maximum" && n > rule.(float64) {
			return fmt.Sprintf("%v is beyond %v", n, rule)
		}
	case "required":
		for _, name := range rule.([]any) {
			if _, there := members[name.(string)]; !there {
				return fmt.Sprintf("%v is missing", name)
			}
		}
	case "properties":
		for name, inner := range rule.(map[string]any) {
			if member, there := members[name]; there {
				if fault := breaks(inner.(map[string]any), member); fault != "" {
					return name + ": " + fault
				}
			}
		}
	case "additionalProperties":
		for name := range members {
			if _, known := schema["properties"].(map[string]any)[name]; !known {
				return name + " is not known"
			}
		}
	case "items":
		elements, _ := v.([]any)
		for _, element := range elements {
			if fault := breaks(rule.(map[string]any), element); fault != "" {
				return fault
			}
		}
	case "allOf":
		for _, each := range rule.([]any) {
			part := each.(map[string]any)
			if breaks(part["if"].(map[string]any), v) == "" {
				if fault := breaks(part["then"].(map[string]any), v); fault != "" {
					return fault
				}
			}
		}
	}
	return ""
}
