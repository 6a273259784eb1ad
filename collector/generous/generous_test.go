package generous

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// spellings are names that the most generous of readers might take for the one given.
func spellings(name string) []string {
	wide := strings.Map(func(r rune) rune { return r + '！' - '!' }, name)
	return []string{
		name, strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], name[:1] + strings.ToUpper(name[1:]),
		" " + name, name + "\u200b", name[:1] + "\u00ad" + name[1:], "\t" + strings.ToUpper(name) + "\x00", wide, strings.ToUpper(wide),
		strings.ReplaceAll(name, "i", "ı"), strings.ReplaceAll(name, "s", "ſ"), strings.ReplaceAll(name, "k", "\u212a"),
	}
}

var table = event.Table{
	Discriminators: []string{"kind", "type"},
	Envelopes:      []string{"event", "result", "rawEvent", "raw_event", "a2a:response", "[0]"},
}

// TestGlance shows that nothing is passed over that any reader might take for a discriminator or an envelope, and that most else is.
func TestGlance(t *testing.T) {
	g := NewGlance(&table)
	for _, names := range [][]string{table.Discriminators, table.Envelopes} {
		for _, name := range names {
			for _, s := range spellings(name) {
				if !Among([]byte(s), names) || !g.Catches([]byte(s)) {
					t.Errorf("%q is no %s", s, name)
				}
			}
		}
	}
	for _, name := range []string{"content", "author", "partial", "invocationId", "actions", "timestamp", "usageMetadata"} {
		if g.Catches([]byte(name)) {
			t.Errorf("%s is looked at", name)
		}
	}
	deep := table
	if deep.Deep = true; !NewGlance(&deep).Catches([]byte("content")) {
		t.Error("a member of a table that is deep is passed over")
	}
}

// FuzzGlance holds what is passed over at a glance against a look at it.
func FuzzGlance(f *testing.F) {
	for _, name := range append(table.Discriminators, table.Envelopes...) {
		for _, s := range spellings(name) {
			f.Add([]byte(s))
		}
	}
	f.Add([]byte(""))
	g := NewGlance(&table)
	f.Fuzz(func(t *testing.T, name []byte) {
		if (Among(name, table.Discriminators) || Among(name, table.Envelopes)) && !g.Catches(name) {
			t.Errorf("%q is passed over", name)
		}
	})
}
