package dialecttest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const canary = "c4n4ry7f3e9d"

// probe is a place in a frame to which a rule applies.
type probe struct {
	path string
	rule *event.Rule
	wrap func(value string) string // returns a frame with the value at this place
}

// maxNesting limits how deep rules are followed, because those of A2A are recursive.
const maxNesting = 9

// probes returns the places for strings below a rule.
func probes(at probe, depth int) (all []probe) {
	r := at.rule
	if depth > maxNesting || r.State || r.Patch {
		return nil
	}
	below := func(path string, rule *event.Rule, wrap func(value string) string) {
		if rule != nil {
			all = append(all, probes(probe{at.path + path, rule, func(v string) string { return at.wrap(wrap(v)) }}, depth+1)...)
		}
	}
	below("", r.String, func(v string) string { return v })
	below("[]", r.Elements, func(v string) string { return "[" + v + "]" })
	below(".*", r.AnyMember, func(v string) string { return `{"a":` + v + "}" })
	for name, rule := range r.Members {
		below("."+name, rule, func(v string) string { return fmt.Sprintf("{%q:%s}", name, v) })
	}
	for kind, typed := range r.ByType {
		for name, rule := range typed.Members {
			if name != "type" {
				below("."+kind+"."+name, rule, func(v string) string { return fmt.Sprintf(`{"type":%q,%q:%s}`, kind, name, v) })
			}
		}
	}
	if r.String == nil && r.Elements == nil && r.AnyMember == nil && r.Members == nil {
		return []probe{at}
	}
	return all
}

// publicOutput returns the output for a frame under the most permissive settings of the policy public.
func publicOutput(t *testing.T, table *event.Table, typ, data string, text bool) string {
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

// named are the forms of names, IDs and codes.
var named = []event.Form{event.FormName, event.FormID, event.FormTool, event.FormCode, event.FormMedia}

// TestValues puts a canary at each place that a table lets out. The canary may leave only where the table
// allows text, and a golden file lists these places, so that each change is reviewed. At the place of a
// name, long texts and texts with control characters must not leave.
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
					return strings.Contains(publicOutput(t, table, typ, data, rules.Text), canary)
				}
				long := canary + strings.Repeat(" long", 100)
				switch free := p.rule.Form == event.FormText || p.rule.Form == event.FormURL || p.rule.AllowAny; {
				case p.rule.Replacement != "":
					if leaves(canary) || leaves(long) {
						t.Errorf("%s: the value of %s is let out, want its replacement", d.Name(), p.path)
					}
				case free:
					segments := strings.Split(p.path, ".")
					list = append(list, d.Name()+" "+strings.Join(segments[max(0, len(segments)-2):], ".")) // A2A nests them in many ways
				case p.rule.Form == event.FormCode && leaves(canary+" x"):
					t.Errorf("%s: %s lets text out, want only codes", d.Name(), p.path)
				case leaves(long) || leaves(canary+"\n") || leaves(canary+"\x7f") || !slices.Contains(named, p.rule.Form) && leaves(canary):
					t.Errorf("%s: %s lets text out", d.Name(), p.path)
				}
			}
		}
	}
	slices.Sort(list)
	compareGolden(t, filepath.Join("testdata", "free_text.golden"), strings.Join(slices.Compact(list), "\n")+"\n")
}
