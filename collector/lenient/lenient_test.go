package lenient

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// spellings returns spellings of name that a lenient reader might accept.
func spellings(name string) []string {
	wide := strings.Map(func(r rune) rune { return r + '！' - '!' }, name)
	return []string{
		name, strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], name[:1] + strings.ToUpper(name[1:]),
		" " + name, name + "\u200b", name[:1] + "\u00ad" + name[1:], name[:1] + "\U0001d159" + name[1:], name[:1] + "\U0010d83d" + name[1:], "\ufffd" + name, "\t" + strings.ToUpper(name) + "\x00", wide, strings.ToUpper(wide),
		strings.ReplaceAll(name, "i", "ı"), strings.ReplaceAll(name, "s", "ſ"), strings.ReplaceAll(name, "k", "\u212a"),
	}
}

var table = event.Table{
	Discriminators: []string{"kind", "type"},
	Envelopes:      []string{"event", "result", "rawEvent", "raw_event", "a2a:response", "[0]"},
}

// TestPrefilter checks that the prefilter accepts each spelling of a discriminator or an envelope, and none
// of some other names.
func TestPrefilter(t *testing.T) {
	prefilter := NewPrefilter(&table)
	for _, names := range [][]string{table.Discriminators, table.Envelopes} {
		for _, name := range names {
			for _, s := range spellings(name) {
				if !MatchesAny([]byte(s), names) || !prefilter.MayMatch([]byte(s)) {
					t.Errorf("MatchesAny(%q) or MayMatch(%q) is false, want both true for %q", s, s, name)
				}
			}
		}
	}
	for _, name := range []string{"content", "author", "partial", "invocationId", "actions", "timestamp", "usageMetadata"} {
		if prefilter.MayMatch([]byte(name)) {
			t.Errorf("MayMatch(%q) = true, want false", name)
		}
	}
	deep := table
	if deep.DeepEnvelopes = true; !NewPrefilter(&deep).MayMatch([]byte("content")) {
		t.Error("MayMatch(content) = false with DeepEnvelopes, want true")
	}
}

// TestLabels checks that a label of a type counts in frames of this type, in every spelling, and in no other frame.
func TestLabels(t *testing.T) {
	labeled := table
	labeled.Labels = []string{"label"}
	labeled.Types = map[string]event.Type{"custom": {Labels: []string{"name"}}, "text": {}}
	prefilter := NewPrefilter(&labeled)
	for _, member := range []string{"name", "label"} {
		for _, s := range spellings(member) {
			for kind := range labeled.Types {
				for _, value := range []string{"internal_x", "\u0131nternal", "x"} {
					data, err := json.Marshal(map[string]string{"kind": kind, s: value})
					var doc strictjson.Doc
					if err != nil || doc.Parse(data, 1) != nil {
						t.Fatalf("%s: %v", data, err)
					}
					b := event.Batch{Type: kind, Table: &labeled, JSON: doc.Root()}
					want := event.NamesListed
					if value != "x" && (member == "label" || kind == "custom") {
						want = event.NamesInternal
					}
					if got := CheckNames(&b, prefilter); got != want {
						t.Errorf("CheckNames of %s = %d, want %d", data, got, want)
					}
				}
			}
		}
	}
}

// FuzzPrefilter checks that the prefilter never rules out a name that matches.
func FuzzPrefilter(f *testing.F) {
	for _, name := range append(table.Discriminators, table.Envelopes...) {
		for _, s := range spellings(name) {
			f.Add([]byte(s))
		}
	}
	f.Add([]byte(""))
	prefilter := NewPrefilter(&table)
	f.Fuzz(func(t *testing.T, name []byte) {
		if (MatchesAny(name, table.Discriminators) || MatchesAny(name, table.Envelopes)) && !prefilter.MayMatch(name) {
			t.Errorf("MayMatch(%q) = false, want true", name)
		}
	})
}
