package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/delegraph/delegraph/collector/event"
)

// TestUnknownKindsAreBounded checks that unknown kinds beyond the limit become one series and are
// not logged.
func TestUnknownKindsAreBounded(t *testing.T) {
	s, reg := testSettings, prometheus.NewPedanticRegistry()
	s.MaxLabelValues = 3
	var reported []string
	s.UnknownKind = func(source, dialect, name string) { reported = append(reported, source+" "+dialect+" "+name) }
	m := New(reg, s)
	for i := range 2000 {
		b := batch(event.KindOther)
		b.UnknownKind = fmt.Sprint("kind-", i%1000)
		m.Consume(b)
	}
	m.Consume(batch(event.KindOther)) // an ordinary frame
	want := []string{
		`dialect="adk",name="_other",source="s" 1994`,
		`dialect="adk",name="kind-0",source="s" 2`,
		`dialect="adk",name="kind-1",source="s" 2`,
		`dialect="adk",name="kind-2",source="s" 2`,
	}
	if diff := cmp.Diff(want, series(t, reg, "delegraph_unknown_events_total")); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if n := testutil.ToFloat64(m.caps.overflow.WithLabelValues("event")); n != 1994 {
		t.Errorf("%v names are counted as replaced", n)
	}
	if want := []string{"s adk kind-0", "s adk kind-1", "s adk kind-2"}; !slices.Equal(reported, want) {
		t.Errorf("reported %q, want %q", reported, want)
	}
}

// TestInternalNames checks that the type of an internal frame is a label only if it is an identifier or in the dialect's
// table, because any other may be content.
func TestInternalNames(t *testing.T) {
	m, reg := newTest(100, 1000)
	table := &event.Table{Types: map[string]event.Type{"stray text": {}}}
	for _, kind := range []string{"internal:llm-call", "stray text", "internal:Bob earns 100000 EUR", "internal:é", strings.Repeat("i", 65), ""} {
		b := batch(event.KindText)
		b.Type, b.Internal, b.Table = kind, true, table
		m.Consume(b)
	}
	unknown := batch(event.KindText)
	unknown.Type, unknown.Internal = "stray text", true
	m.Consume(unknown)
	want := []string{
		`kind="text",name="",source="s" 1`, `kind="text",name="_other",source="s" 4`,
		`kind="text",name="internal:llm-call",source="s" 1`, `kind="text",name="stray text",source="s" 1`,
	}
	if diff := cmp.Diff(want, series(t, reg, internalEvents.name)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
