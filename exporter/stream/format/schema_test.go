package format

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEndsInSchema checks that the published schema has each way in which a stream ends: no capture has them all.
func TestEndsInSchema(t *testing.T) {
	content, err := os.ReadFile("../../../docs/reference/events.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			End struct{ Enum []string }
		}
	}
	if err := json.Unmarshal(content, &schema); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Values(endNames)), slices.Sorted(slices.Values(schema.Properties.End.Enum))); diff != "" {
		t.Errorf("ends in the schema (-sent +schema):\n%s", diff)
	}
}
