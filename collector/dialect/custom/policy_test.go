package custom_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/custom"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestThoughtsOfTypes checks that every frame of a type that means a thought is one, whatever its
// members.
func TestThoughtsOfTypes(t *testing.T) {
	for data, want := range map[string]filter.Reason{
		`{"type":"thought","text":"secret"}`:          filter.ReasonSetting,
		`{"type":"thought","content":"secret"}`:       filter.ReasonSetting,
		`{"type":"thought","text":{"note":"secret"}}`: filter.ReasonSetting,
		`{"type":"answer","content":"hi"}`:            filter.Passed,
	} {
		if _, why := filter.New(filter.Settings{Policy: event.PolicyClient}).Apply(decode(custom.New(mapping()), "", data)); why != want {
			t.Errorf("%s is withheld for %q, want %q", data, why, want)
		}
	}
}

// TestHiddenSpellings checks that hidden members are cut in any spelling.
func TestHiddenSpellings(t *testing.T) {
	m := mapping()
	m.HiddenMembers = []string{"debug", "Äx"}
	for _, name := range []string{"debug", "Debug", "Äx", "äx", "ÄX"} {
		got, why := filter.New(filter.Settings{Policy: event.PolicyClient}).Apply(decode(custom.New(m), "", `{"type":"answer","text":"hi","`+name+`":"secret"}`))
		if why != filter.Passed || strings.Contains(string(got.Data), "secret") {
			t.Errorf("with %s, %s leaves (%q)", name, got.Data, why)
		}
	}
}
