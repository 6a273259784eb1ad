package metrics

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/stream/access"
	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// section is a part of the documentation.
type section struct {
	title   string
	metrics []metric
}

// table lists every metric in the order of the documentation.
var table = []section{
	{"Runs", []metric{runsStarted, runsOpen, runsEnded, runDuration, timeToFirstText, runModelCalls, runToolCalls, delegationDepth}},
	{"Agents, tools and models", []metric{
		released.agentDuration.metric, released.inferenceCalls.metric, released.toolCalls.metric, released.workflowDuration.metric, released.toolDuration.metric, toolCalls, toolCallFailures, toolCallsDiffer, transfers, transferLoops,
		released.inferenceDuration.metric, released.firstChunk.metric, released.tokens[0].metric, confidence, unratedAnswer, citations, unreadable,
	}},
	{"What runs ask for and make", []metric{
		inputRequests, inputWait, inputExpired, artifacts, artifactBytes, artifactGaps, chunksRepeated, planItems,
	}},
	{"Streams", []metric{frames, frameBytes, events, internalEvents, unknownEvents, parseErrors, lateFrames, eventLag, clockOffset}},
	{"Sources", []metric{
		sourceUp, lastEvent, upstreamErrors, unobservedBytes, unreadRequests, cardsUnchanged, relayWithheld, relayIDsWithheld, reconnects, repeatedFrames, missedFrames, sessionsEvicted, unrecognized,
	}},
	{"The external stream", []metric{
		streamSubscribers, streamSent, streamDropped, streamDisconnects, streamResumes, streamRefusals, streamReplayFrames, streamReplayBytes,
		streamTokensFailures, streamTicketsEvicted,
	}},
	{"The store of the external stream", []metric{
		storePublished, storeRepeated, storeDropped, storeRetries, storeQueued, storeCapacity, storeConnected, storeFeeds, storeFeedRetries, storeFeedGaps,
	}},
	{"Delegraph itself", []metric{
		panics, operationsExpired, operationsEvicted, spansExported, spansQueued, spansDropped, labelOverflow, logDropped, memoryBudget, memoryUsed, memoryShed, reloadSuccessful, reloadTime, buildInfo,
	}},
}

// When the series of a metric begin.
const (
	atStart    = "with the program"
	withSource = "with each configured source"
	withFirst  = "with the first event"
)

// newBudget returns a budget with the accounts of a sidecar.
func newBudget() *budget.Budget {
	b := budget.New(0)
	for _, name := range buffers {
		b.Account(name, 1, 1)
	}
	return b
}

// idleStore is a store without work and without a connection.
type idleStore struct{}

func (idleStore) QueuedBytes() int   { return 0 }
func (idleStore) QueueCapacity() int { return 0 }
func (idleStore) OpenFeeds() int     { return 0 }
func (idleStore) Connected() bool    { return false }

// registerIdle registers all metrics that a sidecar has before it has a source.
func registerIdle(m *Metrics) {
	m.ObserveSpans(func() (uint64, int, map[string]uint64) { return 0, 0, nil }, spans.DropReasons())
	m.ObserveLog(func() uint64 { return 0 })
	m.ObserveMemory(newBudget())
	s := m.Stream()
	s.Observe(func() replay.Stats { return replay.Stats{} }, func() access.Counts { return access.Counts{} })
	m.Store(s).Observe(&idleStore{})
}

// begins returns when the series of each metric begin, as observed.
func begins(t *testing.T) map[string]string {
	t.Helper()
	m, reg := newTest(100, 1000)
	when := map[string]string{}
	note := func(word string) {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if when[f.GetName()] == "" {
				when[f.GetName()] = word
			}
		}
	}
	registerIdle(m)
	note(atStart)
	m.InitSource("s", []string{"adk"}, nil)
	note(withSource)
	for _, section := range append(table[:len(table):len(table)], newest()) {
		for _, mt := range section.metrics {
			if when[mt.name] == "" {
				when[mt.name] = withFirst
			}
		}
	}
	return when
}

// TestSeriesBegin checks that a counter that starts at zero has every value of its labels.
func TestSeriesBegin(t *testing.T) {
	dialects := []string{"adk", "a2a"}
	m, reg := newTest(100, 1000)
	registerIdle(m)
	m.InitSource("s", dialects, nil)
	given := map[string][]string{
		"source": {"s"}, "dialect": append(dialects, "unknown"), "version": {"1.2.3"}, "revision": {"abc"}, "goversion": nil,
	}
	seen, when := map[string]bool{}, begins(t)
	for _, section := range table {
		for _, mt := range section.metrics {
			seen[mt.name] = true
			if when[mt.name] == withFirst {
				continue
			}
			want := 1
			for _, label := range mt.labels {
				if values := given[label]; values != nil {
					want *= len(values)
				} else {
					want *= max(len(mt.values(label)), 1)
				}
			}
			got := gathered(t, reg, mt.name)
			if len(got) != want {
				t.Errorf("%s begins with %d series, not %d", mt.name, len(got), want)
			}
			for _, s := range got {
				checkZero(t, mt, s, given)
			}
		}
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(driven)), slices.Sorted(maps.Keys(drivenStream))) {
		if !seen[name] {
			t.Errorf("%s is not in the variable table of begins_test.go: add it to a section", name)
		}
	}
}

// TestParseErrorsBeginWithTheDialect checks a source without a configured dialect. The series of all reasons must begin
// at 0 with the source's first frame of a dialect, so that a rate includes the first error. Without a configured
// source, a series begins with its first error.
func TestParseErrorsBeginWithTheDialect(t *testing.T) {
	for _, reserved := range []bool{true, false} {
		m, reg := newTest(100, 1000)
		if reserved {
			m.InitSource("s", nil, nil)
		}
		before := len(gathered(t, reg, parseErrors.name))
		m.Consume(batch())
		want := 0
		if reserved {
			want = len(event.Reasons())
		}
		if n := len(gathered(t, reg, parseErrors.name)) - before; n != want || before != want {
			t.Errorf("reserved %t: %d series before the first frame, and %d with it; want %d", reserved, before, n, want)
		}
	}
}

func checkZero(t *testing.T, m metric, s *dto.Metric, given map[string][]string) {
	t.Helper()
	if value := s.GetCounter().GetValue() + s.GetGauge().GetValue(); value != 0 && m.name != buildInfo.name {
		t.Errorf("%s begins at %v", m.name, value)
	}
	for _, l := range s.Label {
		allowed := m.values(l.GetName())
		if values := given[l.GetName()]; values != nil {
			allowed = values
		}
		if allowed != nil && !slices.Contains(allowed, l.GetValue()) {
			t.Errorf("%s has %s=%q", m.name, l.GetName(), l.GetValue())
		}
	}
}

// TestReserveAgain checks that InitSource may be called twice for a source.
func TestReserveAgain(t *testing.T) {
	m, reg := newTest(100, 1000)
	for range 2 {
		m.InitSource("s", []string{"adk"}, nil)
		m.SetSourceUp("s", false)
	}
	m.InitSource("other", []string{"adk"}, nil)
	if diff := cmp.Diff([]string{`source="other" 0`, `source="s" 2`}, series(t, reg, upstreamErrors.name)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFailuresBeginWithCalls checks that a tool's failures start at 0 with its first call.
func TestFailuresBeginWithCalls(t *testing.T) {
	m, reg := newTest(2, 1000)
	ends(m, tool("t", ""), tool("u", ""), tool("v", ""))
	want := []string{`agent="a",source="s",tool="_other" 0`, `agent="a",source="s",tool="t" 0`, `agent="a",source="s",tool="u" 0`}
	if diff := cmp.Diff(want, series(t, reg, toolCallFailures.name)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := series(t, reg, labelOverflow.name); n[4] != `label="tool" 2` { // one in the calls and one in the durations
		t.Errorf("the overflow series are %q", n)
	}
}

// TestLabelsAreClosed checks that each label is capped, comes from the configuration, or has a closed list of values. No
// other value may occur.
func TestLabelsAreClosed(t *testing.T) {
	ours := []string{"source", "dialect", "version", "revision", "goversion"}
	byName := map[string]metric{}
	for _, section := range append(table[:len(table):len(table)], newest()) {
		for _, m := range section.metrics {
			byName[m.name] = m
			for _, label := range m.labels {
				kinds := 0
				for _, is := range []bool{fromWire[label] != "", slices.Contains(ours, label), m.values(label) != nil} {
					if is {
						kinds++
					}
				}
				if kinds != 1 {
					t.Errorf("%s: the label %s is of %d kinds", m.name, label, kinds)
				}
			}
		}
	}
	for _, class := range fromWire {
		if !slices.Contains(labelOverflow.values("label"), class) {
			t.Errorf("the overflow of %s is not counted", class)
		}
	}
	for _, f := range families(t) {
		for _, s := range f.Metric {
			for _, l := range s.Label {
				if values := byName[f.GetName()].values(l.GetName()); values != nil && !slices.Contains(values, l.GetValue()) {
					t.Errorf("%s has %s=%q", f.GetName(), l.GetName(), l.GetValue())
				}
			}
		}
	}
}

// TestListsAreWhole compares the closed lists of label values with the constants of their packages.
func TestListsAreWhole(t *testing.T) {
	for _, c := range []struct {
		folder, kind string
		values       []string
	}{
		{"../../collector/event", "Failure", alwaysAdmitted["error_type"]},
		{"../../collector/event", "Origin", confidence.values("origin")},
		{"../../collector/event", "InputKind", inputKinds},
		{"../../collector/event", "ArtifactKind", artifactKinds},
		{"../tracker", "OperationKind", openKinds[1:]},
	} {
		want, got := constants(t, c.folder, c.kind), slices.Clone(c.values)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-constants +list):\n%s", c.kind, diff)
		}
	}
	if diff := cmp.Diff(spans.DropReasons(), spansDropped.values("reason")); diff != "" {
		t.Errorf("spans (-reasons +list):\n%s", diff)
	}
	if diff := cmp.Diff(prefixed(t, "../../collector/source", "Unread"), slices.Sorted(slices.Values(unreadRequests.values("reason")))); diff != "" {
		t.Errorf("requests (-reasons +list):\n%s", diff)
	}
	if diff := cmp.Diff(prefixed(t, "../../collector/source", "Card"), slices.Sorted(slices.Values(cardsUnchanged.values("reason")))); diff != "" {
		t.Errorf("cards (-reasons +list):\n%s", diff)
	}
	lost := prefixed(t, "../tracker", "Lost")
	if diff := cmp.Diff(lost, slices.Sorted(slices.Values(append([]string{openKinds[0]}, keptKinds[:9]...)))); diff != "" {
		t.Errorf("losses (-kinds +list):\n%s", diff)
	}
}

// constants returns the values of a type's constants.
func constants(t *testing.T, folder, kind string) []string {
	t.Helper()
	return declared(t, folder, func(spec *ast.ValueSpec) bool {
		named, ok := spec.Type.(*ast.Ident)
		return ok && named.Name == kind
	})
}

// prefixed returns the values of the constants whose names have a prefix.
func prefixed(t *testing.T, folder, prefix string) []string {
	t.Helper()
	return declared(t, folder, func(spec *ast.ValueSpec) bool { return strings.HasPrefix(spec.Names[0].Name, prefix) })
}

func declared(t *testing.T, folder string, wanted func(*ast.ValueSpec) bool) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(folder, err)
	}
	values := map[string]bool{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				spec := s.(*ast.ValueSpec)
				if !wanted(spec) {
					continue
				}
				for _, v := range spec.Values {
					text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					values[text] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(values))
}

// Limits for six small sources in a Prometheus: the lines of a scrape, and those among them with the value 0.
const (
	mostSeries = 1671
	mostZero   = 332
)

// TestSixSmallSources limits the series of six small sources, each with one agent, two tools, one model and one successful run.
func TestSixSmallSources(t *testing.T) {
	m, reg := newTest(100, 1000)
	registerIdle(m)
	for i := range 6 {
		source := fmt.Sprint("s", i)
		m.InitSource(source, []string{"adk"}, nil)
		m.SetSourceUp(source, true)
		r := run()
		r.Source, r.Status, r.Root.Failure, r.Root.ID, r.FirstText = source, tracker.Completed, "", tracker.SpanID{1}, at(3)
		m.RunStarted(r)
		frame := batch(event.KindText, event.KindModelEnded, event.KindToolStarted, event.KindToolEnded, event.KindFinal)
		frame.Stream.Source, frame.Received, frame.Time = source, at(3).At, at(3).At
		m.Consume(frame)
		for _, op := range []*tracker.Operation{chat("m", ""), tool("t", ""), tool("u", "")} {
			op.Parent = r.Root.ID
			m.OperationEnded(r, op)
		}
		m.OperationEnded(r, r.Root)
		m.RunEnded(r)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all, zero := 0, 0
	for _, f := range families {
		for _, s := range f.Metric {
			all++
			if h := s.Histogram; h != nil {
				all += len(h.Bucket) + 2 // +Inf and sum
			} else if s.GetCounter().GetValue()+s.GetGauge().GetValue() == 0 {
				zero++
			}
		}
	}
	if all > mostSeries || zero > mostZero {
		t.Errorf("%d series, %d of them 0; mostSeries = %d and mostZero = %d are allowed: raise them if a new metric needs it", all, zero, mostSeries, mostZero)
	}
}
