package langgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestGraphsInManyTools sends a frame of a graph in more others than are read. It may work within a withheld call.
func TestGraphsInManyTools(t *testing.T) {
	var namespace strings.Builder
	for i := range maxAround + 1 {
		fmt.Fprintf(&namespace, "|a:%d", i)
	}
	deep := sent{"updates" + namespace.String() + "|tools:U8", `{"model":{"messages":[` + wholeX + `]}}`}
	checkStaysIn(t, []filter.Settings{client, public}, bothAsked[0], deep)
	if out := leaving(client, deep); !strings.Contains(out, "secret") {
		t.Errorf("without withheld calls, it does not leave either:\n%s", out)
	}
}

// TestLongNamespaces checks that namespaces of any length take little memory, and that what is in a graph whose namespace is not
// remembered stays in.
func TestLongNamespaces(t *testing.T) {
	long := strings.Repeat("x", 2*maxNamespace)
	checkStaysIn(t, []filter.Settings{client, public}, inTuple(`{"type":"ai","id":"s","content":"secret"}`, `,"langgraph_checkpoint_ns":"`+long+`:1|model:1"`))
	checkStaysIn(t, []filter.Settings{client, public}, sent{"custom|" + long + "|model:1", `{"x":"secret"}`}, sent{"updates|" + long, `{"model":{"messages":[{"type":"ai","id":"s","content":"secret"}]}}`})
	task := `{"id":"t%d","name":"internal_a","input":{},"triggers":["x"]}`
	for _, length := range []int{maxNamespace - 16, 128 << 10} {
		for _, mode := range []string{modeTasks, modeCheckpoints, modeCustom} {
			d := Dialect{}.New(&event.Stream{}).(*decoder)
			for i := range 300 {
				data := fmt.Sprintf(task, i)
				if mode == modeCheckpoints {
					data = `{"next":["internal_a"],"values":{}}`
				}
				var doc strictjson.Doc
				if err := doc.Parse([]byte(data), 100); err != nil {
					t.Fatal(err)
				}
				namespace := fmt.Sprintf("a%d:1|%s", i, strings.Repeat("x", length))
				var b event.Batch
				d.check([]byte(mode+"|"+namespace), mode, doc.Root(), &b)
			}
			texts := 0
			for id, w := range d.working {
				texts += len(id) + len(w.graph) + 8*len(w.around)
			}
			for place, one := range d.steps {
				texts += len(place) + len(one.graph)
			}
			if size := d.internalState.size(); texts > size || length > maxNamespace && size > 1<<20 {
				t.Errorf("%s with namespaces of %d bytes: texts of %d bytes are kept, and %d counted", mode, length, texts, size)
			}
		}
	}
	d := Dialect{}.New(&event.Stream{}).(*decoder)
	for i := range 64 {
		decodeFrame(d, sent{modeTasks, fmt.Sprintf(`{"id":"t%d","name":"n%s","input":{},"triggers":["x"]}`, i, strings.Repeat("x", 128<<10))})
	}
	if size := d.invoked.size() + d.internalState.size(); size > 1<<20 {
		t.Errorf("tasks with long names take %d bytes", size)
	}
}
