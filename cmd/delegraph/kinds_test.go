package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
)

// kindTable is one frame of each kind that a dialect has, and the shapes in which servers send them.
type kindTable struct {
	dialect string
	shapes  []kindShape
	cases   []kindCase
}

// kindShape puts a frame, in the table's own notation, on the wire as the n-th of its stream.
type kindShape struct {
	name string
	wire func(n int, frame string) string
}

// kindCase is a frame that is judged by what the stream says with it and not without it. What is called secret in it may not reach
// the public, and what is called CANARY nobody.
type kindCase struct {
	kind   string
	before []string
	frame  string
}

// test holds what becomes of each frame in spans, in metrics and for both kinds of reader against the dialect's golden file, a
// line for each frame and shape. Every type that may leave has a frame.
func (k kindTable) test(t *testing.T) {
	var got strings.Builder
	seen := map[string]bool{}
	for _, c := range k.cases {
		for _, shape := range k.shapes {
			var wire string
			for i, frame := range c.before {
				wire += shape.wire(i+1, frame)
			}
			without := k.told(t, wire)
			wire += shape.wire(len(c.before)+1, c.frame)
			with := k.told(t, wire)
			seen[k.lastType(t, wire)] = true
			account := becomes(without, with)
			if sent := parseLeft(t, []byte(wire)); account.client == "as it came" && with.client[len(with.client)-1].data != sent[len(sent)-1].data {
				account.client = with.client[len(with.client)-1].data
			}
			if strings.Contains(account.public, "secret") || strings.Contains(account.public+account.client, "CANARY") {
				t.Errorf("%s, %s, leaves as %s and %s", c.kind, shape.name, account.public, account.client)
			}
			fmt.Fprintf(&got, "%s | %s | %s\n", c.kind, shape.name, account)
		}
	}
	for _, d := range collector.Dialects() {
		for name, kind := range d.Table().Types {
			if d.Name() == k.dialect && kind.Client && !seen[name] {
				t.Errorf("no frame of type %s", name)
			}
		}
	}
	golden := filepath.Join("testdata", k.dialect+".kinds.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Error(diff)
	}
}

// lastType is how the dialect calls a stream's last frame.
func (k kindTable) lastType(t *testing.T, wire string) (last string) {
	t.Helper()
	sink := batches(func(b *event.Batch) { last = b.Type })
	pipeline := collector.New(collector.Dialects(), settings.Collector(config.Default()), sink)
	if err := pipeline.Observe(&event.Stream{}, collector.Input{Reader: strings.NewReader(wire)}, k.dialect); err != nil {
		t.Fatal(err)
	}
	return last
}

// kindsTold is all that a stream becomes.
type kindsTold struct {
	spans          spanLines
	samples        map[string]float64
	client, public []leftFrame
}

type leftFrame struct{ name, data string }

// told replays a stream.
func (k kindTable) told(t *testing.T, wire string) (all kindsTold) {
	t.Helper()
	if wire == "" {
		return all
	}
	file := filepath.Join(t.TempDir(), "kinds.sse")
	if err := os.WriteFile(file, []byte(wire), 0o600); err != nil {
		t.Fatal(err)
	}
	replay := func(flags ...string) []byte {
		var out bytes.Buffer
		args := append([]string{"replay", "--dialect=" + k.dialect}, flags...)
		if err := run(t.Context(), append(args, file), &out, io.Discard); err != nil {
			t.Fatalf("%v, of\n%s", err, wire)
		}
		return out.Bytes()
	}
	all.spans = parseSpans(t, replay("--format=otlp"))
	all.samples = parseSamples(t, replay("--format=metrics"))
	all.client = parseLeft(t, replay("--format=stream", "--policy=client"))
	all.public = parseLeft(t, replay("--format=stream", "--policy=public"))
	return all
}

// unsaid are samples that every frame has.
var unsaid = []string{"delegraph_frames_total", "delegraph_frame_bytes_total", "delegraph_build_info"}

// parseSamples reads the values of counters and gauges, and the counts of histograms, without the labels that all have in common.
func parseSamples(t *testing.T, text []byte) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), "} ")
		name, labels, labelled := strings.Cut(series, "{")
		if !labelled || strings.HasPrefix(name, "#") || strings.HasSuffix(name, "_bucket") || strings.HasSuffix(name, "_sum") || slices.Contains(unsaid, name) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for label := range strings.SplitSeq(labels, ",") {
			if key, v, _ := strings.Cut(label, "="); key != "source" && key != "dialect" && v != `""` {
				kept = append(kept, key+"="+strings.Trim(v, `"`))
			}
		}
		all[name+"{"+strings.Join(kept, " ")+"}"] += n
	}
	return all
}

func parseLeft(t *testing.T, stream []byte) (all []leftFrame) {
	t.Helper()
	frames := sse.NewReader(bytes.NewReader(stream), 0)
	for {
		f, err := frames.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, leftFrame{string(f.Event), string(f.Data)})
	}
}

// becoming is what one frame adds.
type becoming struct{ spans, metrics, client, public string }

func (b becoming) String() string {
	return "spans: " + b.spans + " | metrics: " + b.metrics + " | client: " + b.client + " | public: " + b.public
}

func becomes(without, with kindsTold) becoming {
	b := becoming{spans: "nothing", metrics: "nothing", client: "stays in", public: "stays in"}
	if added := addedSpans(without.spans, with.spans); len(added) > 0 {
		b.spans = strings.Join(added, "; ")
	}
	var more []string
	for _, series := range slices.Sorted(maps.Keys(with.samples)) {
		if n := with.samples[series] - without.samples[series]; n > 0 {
			more = append(more, fmt.Sprintf("%s +%v", series, n))
		}
	}
	if len(more) > 0 {
		b.metrics = strings.Join(more, ", ")
	}
	if len(with.client) > len(without.client) {
		b.client = "as it came"
	}
	if n := len(with.public); n > len(without.public) {
		b.public = strings.TrimSpace(with.public[n-1].name + " " + strconv.Quote(with.public[n-1].data))
		if !strings.ContainsAny(with.public[n-1].data, "\n\\") {
			b.public = strings.TrimSpace(with.public[n-1].name + " " + with.public[n-1].data)
		}
	}
	return b
}

// addedSpans are the spans that are new, and what is new about those that are not.
func addedSpans(without, with spanLines) (added []string) {
	old := map[string][]string{}
	for _, s := range without {
		old[without.path(s)] = without.facts(s)
	}
	for _, s := range with {
		path := with.path(s)
		before, known := old[path]
		facts := slices.DeleteFunc(with.facts(s), func(fact string) bool { return slices.Contains(before, fact) })
		switch {
		case !known:
			added = append(added, fmt.Sprintf("new %s (%s)", path, strings.Join(facts, ", ")))
		case len(facts) > 0:
			added = append(added, fmt.Sprintf("%s (%s)", path, strings.Join(facts, ", ")))
		}
	}
	slices.Sort(added)
	return added
}

// path is a span's place in its run, with its number among those of its name there. The run itself and a model's response may get
// their names late.
func (all spanLines) path(s spanLine) string {
	parent := slices.IndexFunc(all, func(p spanLine) bool { return p.SpanID == s.ParentSpanID })
	if parent < 0 {
		return "run"
	}
	n := 1
	for _, other := range all {
		earlier := cmp.Or(cmp.Compare(other.StartTimeUnixNano, s.StartTimeUnixNano), cmp.Compare(other.EndTimeUnixNano, s.EndTimeUnixNano)) < 0
		if earlier && other.ParentSpanID == s.ParentSpanID && other.title() == s.title() {
			n++
		}
	}
	place := all.path(all[parent]) + " > " + s.title()
	if n > 1 {
		place += fmt.Sprint(" #", n)
	}
	return place
}

func (s spanLine) title() string {
	if strings.HasPrefix(s.Name, "chat ") {
		return "chat"
	}
	return s.Name
}

// unsaidAttributes are those of every span of a run, but for the run's own.
var unsaidAttributes = []string{"gen_ai.operation.name", "gen_ai.conversation.id", "session.id", "delegraph.run.id", "delegraph.dialect", "delegraph.source", "delegraph.timing"}

func (all spanLines) facts(s spanLine) (facts []string) {
	if place := all.path(s); place == "run" || s.title() == "chat" {
		facts = append(facts, s.Name)
	} else {
		took := time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano)
		facts = append(facts, fmt.Sprint("took ", took.Round(time.Microsecond)))
	}
	if s.Status.Code == 2 {
		facts = append(facts, "failed")
	}
	for _, a := range s.Attributes {
		if !slices.Contains(unsaidAttributes, a.Key) {
			facts = append(facts, a.String())
		}
	}
	for _, e := range s.Events {
		var of []string
		for _, a := range e.Attributes {
			of = append(of, a.String())
		}
		facts = append(facts, fmt.Sprintf("event %s {%s}", e.Name, strings.Join(of, ", ")))
	}
	for _, l := range s.Links {
		i := slices.IndexFunc(all, func(other spanLine) bool { return other.SpanID == l.SpanID })
		name := "another trace"
		if i >= 0 {
			name = all[i].Name
		}
		facts = append(facts, "link to "+name)
	}
	return facts
}

// batches is a sink of nothing else.
type batches func(*event.Batch)

func (batches) Open(*event.Stream)                        {}
func (f batches) Consume(b *event.Batch)                  { f(b) }
func (batches) Close(*event.Stream, event.End, time.Time) {}
