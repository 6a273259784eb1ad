package a2a_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// asKagent writes the metadata of an ADK agent as kagent does. toADK is the reverse. Names of functions such as adk_request_input stay.
var (
	asKagent = strings.NewReplacer(`"adk_request`, `"adk_request`, `\"adk_`, `\"kagent_`, `"adk_partial`, `"kagent_adk_partial`, `"adk_`, `"kagent_`)
	toADK    = strings.NewReplacer(`"kagent_adk_partial`, `"adk_partial`, `\"kagent_`, `\"adk_`, `"kagent_`, `"adk_`)
)

// TestKagent plays the recordings of ADK agents with the prefix of kagent. The facts do not change. What leaves differs only in the
// names of members.
func TestKagent(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil {
		t.Fatal(err)
	}
	renamed := 0
	for _, file := range files {
		recorded, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		adk := string(recorded)
		kagent := asKagent.Replace(adk)
		if kagent == adk {
			continue
		}
		renamed++
		facts := func(stream string) string { return dialecttest.Facts(a2a.Dialect{}, &event.Stream{}, stream) }
		if diff := cmp.Diff(facts(adk), facts(kagent)); diff != "" {
			t.Errorf("%s: the facts differ (-adk +kagent):\n%s", file, diff)
		}
		for _, settings := range []filter.Settings{
			public, {Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}, {Policy: event.PolicyPublic, Authors: []string{"a"}},
			{Policy: event.PolicyClient, Exclude: []event.Kind{event.KindToolStarted}}, {Policy: event.PolicyClient, Authors: []string{"a"}},
		} {
			want, got := filterStream(t, settings, adk), filterStream(t, settings, kagent)
			for i := range want {
				if toADK.Replace(got[i]) != toADK.Replace(want[i]) {
					t.Errorf("%s, frame %d, %+v: the output is %s, want %s", file, i, settings, got[i], want[i])
				}
			}
		}
	}
	if renamed == 0 {
		t.Error("no recording has metadata of ADK agents")
	}
}
