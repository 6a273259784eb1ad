package dialecttest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const canary = "c4n4ry7f3e9d"

// probe is a value at one place of a frame that a rule judges.
type probe struct {
	path string
	rule *event.Rule
	wrap func(value string) string // a frame with the value there
}

// maxNesting is how deep rules are followed; those of A2A go round.
const maxNesting = 9

// probes lists the places for strings below a rule.
func probes(at probe, depth int) (all []probe) {
	r := at.rule
	switch {
	case depth > maxNesting || r.State || r.Patch:
		return nil
	case r.Each != nil:
		return probes(probe{at.path + "[]", r.Each, func(v string) string { return at.wrap("[" + v + "]") }}, depth+1)
	case r.Names != nil:
		return probes(probe{at.path + ".*", r.Names, func(v string) string { return at.wrap(`{"a":` + v + "}") }}, depth+1)
	case r.Members != nil:
		for name, rule := range r.Members {
			all = append(all, probes(probe{at.path + "." + name, rule, func(v string) string { return at.wrap(fmt.Sprintf("{%q:%s}", name, v)) }}, depth+1)...)
		}
		return all
	}
	return []probe{at}
}

// leavesPublic returns what leaves of a frame under public with every setting that widens it, whoever said it.
func leavesPublic(t *testing.T, table *event.Table, typ, data string, text bool) string {
	t.Helper()
	b := &event.Batch{Stream: &event.Stream{}, Frame: sse.Frame{Data: []byte(data)}, Table: table, Type: typ, Agent: "a"}
	var doc strictjson.Doc
	if !text {
		if err := doc.Parse(b.Frame.Data, 100); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		b.JSON = doc.Root()
	}
	b.Add(event.KindText).SetText([]byte("x"))
	frame, _ := filter.New(filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}).Apply(b)
	return string(frame.Data)
}

// TestValues puts a canary into every place that a table lets something out of. It leaves only where the table says that text is meant
// to leave, and these places are a list that is read when it changes. A name, which may be anything short, holds no text: none that is
// long or has lines.
func TestValues(t *testing.T) {
	var list []string
	for _, d := range collector.Dialects() {
		table := d.Table()
		for typ, rules := range table.Types {
			if rules.Public == nil {
				continue
			}
			for _, p := range probes(probe{typ, rules.Public, func(v string) string { return v }}, 0) {
				leaves := func(value string) bool {
					data := value
					if !rules.Text {
						quoted, _ := json.Marshal(value)
						data = p.wrap(string(quoted))
					}
					return strings.Contains(leavesPublic(t, table, typ, data, rules.Text), canary)
				}
				long := canary + strings.Repeat(" long", 100)
				switch free := p.rule.Form == event.FormText || p.rule.Whole; {
				case p.rule.Instead != "":
					if leaves(canary) || leaves(long) {
						t.Errorf("%s: %s leaves", d.Name(), p.path)
					}
				case free:
					segments := strings.Split(p.path, ".")
					list = append(list, d.Name()+" "+strings.Join(segments[max(0, len(segments)-2):], ".")) // A2A nests them in many ways
				case leaves(long) || leaves(canary+"\n") || leaves(canary+"\x7f") || p.rule.Form != event.FormName && leaves(canary):
					t.Errorf("%s: text leaves in %s", d.Name(), p.path)
				}
			}
		}
	}
	slices.Sort(list)
	golden := filepath.Join("testdata", "free_text.golden")
	got := strings.Join(slices.Compact(list), "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("text that is meant to leave (-want +got):\n%s", diff)
	}
}
