package metrics

import (
	"fmt"
	"slices"
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
