package formats_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// factCounter counts events by kind.
type factCounter map[string]int

func (factCounter) Open(*event.Stream)                        {}
func (factCounter) Close(*event.Stream, event.End, time.Time) {}

func (c factCounter) Consume(b *event.Batch) {
	for i := range b.Events {
		if !b.Internal && b.Events[i].Kind != event.KindOther {
			c[b.Events[i].Kind.String()]++
		}
	}
}

// TestFactsSurvive counts the events in all captures of a dialect, and those that a subscriber of each policy can still decode.
// The public stream is encoded anew with members missing.
func TestFactsSurvive(t *testing.T) {
	c := config.Default()
	var table strings.Builder
	for _, family := range slices.Sorted(maps.Keys(recorded.Captures)) {
		stated := factCounter{}
		told := map[string]factCounter{"client": {}, "public": {}}
		for _, file := range recorded.Files(t, recorded.Captures[family]) {
			pipeline := collector.New(collector.Dialects(), settings.Collector(c), stated)
			if err := source.ReadCapture(t.Context(), pipeline, source.Capture{Name: file, Dialect: config.DialectAuto}); err != nil {
				t.Fatal(err)
			}
			for policy, counter := range told {
				for _, f := range harness.Frames(t, harness.ReplayAs(t, policy, "normalized", file)) {
					var e struct{ Kind string }
					if err := json.Unmarshal(f.Data, &e); err != nil {
						t.Fatal(err)
					}
					counter[e.Kind]++
				}
			}
		}
		fmt.Fprintf(&table, "%-15s %7s %7s %7s\n", family, "stated", "client", "public")
		for _, kind := range slices.Sorted(maps.Keys(stated)) {
			fmt.Fprintf(&table, "  %-13s %7d %7d %7d\n", kind, stated[kind], told["client"][kind], told["public"][kind])
			for _, counter := range told {
				if counter[kind] == 0 && kind == "text" {
					t.Errorf("%s: no text in any stream", family)
				}
			}
		}
	}
	const golden = "testdata/format/facts.golden"
	if *harness.Update {
		if err := os.WriteFile(golden, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(table.String(), "\n")); diff != "" {
		t.Errorf("%s is out of date; rewrite it by -update (-want +got):\n%s", golden, diff)
	}
}
