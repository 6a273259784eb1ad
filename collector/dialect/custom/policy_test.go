package custom_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/custom"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestThoughtsOfTypes takes every frame of a type that means a thought for one, whatever its members are.
func TestThoughtsOfTypes(t *testing.T) {
	for data, want := range map[string]filter.Reason{
		`{"type":"thought","text":"secret"}`:          filter.Setting,
		`{"type":"thought","content":"secret"}`:       filter.Setting,
		`{"type":"thought","text":{"note":"secret"}}`: filter.Setting,
		`{"type":"answer","content":"hi"}`:            filter.Passed,
	} {
		if _, why := filter.New(filter.Settings{Policy: event.PolicyClient}).Apply(read(custom.New(mapping()), "", data)); why != want {
			t.Errorf("%s: %q, want %q", data, why, want)
		}
	}
}
