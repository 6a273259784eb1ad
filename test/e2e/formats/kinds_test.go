package formats_test

import (
	"bytes"
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
	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// kindTable has one frame of each kind of a dialect, and the shapes in which servers send them.
type kindTable struct {
	dialect string
	shapes  []kindShape
	cases   []kindCase
}

// kindShape writes a frame, in the table's notation, as the n-th frame of a stream.
type kindShape struct {
	name string
	wire func(n int, frame string) string
}

// kindCase is a frame whose effect is measured by the difference that it makes to the stream's output. Text named secret in it
// must not reach the public, and text named CANARY must not reach any reader.
type kindCase struct {
	kind   string
	before []string
	frame  string
}

// test compares the effect of each frame on spans, metrics and both kinds of reader with the dialect's golden file, which has a
// line for each frame and shape. Every type that may be published must have a frame.
func (k kindTable) test(t *testing.T) {
	var got strings.Builder
	seen := map[string]bool{}
	for _, c := range k.cases {
		for _, shape := range k.shapes {
			var wire string
			for i, frame := range c.before {
				wire += shape.wire(i+1, frame)
			}
			without := k.replay(t, wire)
			wire += shape.wire(len(c.before)+1, c.frame)
			with := k.replay(t, wire)
			seen[k.lastType(t, wire)] = true
			account := effectOf(without, with)
			if sent := parseLeft(t, []byte(wire)); account.client == "as it came" && with.client[len(with.client)-1].data != sent[len(sent)-1].data {
				account.client = with.client[len(with.client)-1].data
			}
			if strings.Contains(account.public, "secret") || strings.Contains(account.public+account.client, "CANARY") {
				t.Errorf("%s, %s: published as %s and %s", c.kind, shape.name, account.public, account.client)
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
	if *harness.Update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("%s is out of date; rewrite it by -update (-want +got):\n%s", golden, diff)
	}
}

// lastType returns the dialect's type of a stream's last frame.
func (k kindTable) lastType(t *testing.T, wire string) (last string) {
	t.Helper()
	sink := batches(func(b *event.Batch) { last = b.Type })
	pipeline := collector.New(collector.Dialects(), settings.Collector(config.Default()), sink)
	if err := pipeline.Observe(&event.Stream{}, collector.Input{Reader: strings.NewReader(wire)}, k.dialect); err != nil {
		t.Fatal(err)
	}
	return last
}

// replayOutput is the whole output for a stream.
type replayOutput struct {
	spans          harness.SpanLines
	samples        map[string]float64
	client, public []leftFrame
}

type leftFrame struct{ name, data string }

// replay replays a stream.
func (k kindTable) replay(t *testing.T, wire string) (all replayOutput) {
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
		if err := command.Run(t.Context(), append(args, file), &out, io.Discard); err != nil {
			t.Fatalf("%v, of\n%s", err, wire)
		}
		return out.Bytes()
	}
	all.spans = harness.ParseSpans(t, replay("--format=otlp"))
	all.samples = harness.ParseSamples(t, replay("--format=metrics"))
	all.client = parseLeft(t, replay("--format=stream", "--policy=client"))
	all.public = parseLeft(t, replay("--format=stream", "--policy=public"))
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

// frameEffect is what one frame adds to the output.
type frameEffect struct{ spans, metrics, client, public string }

func (b frameEffect) String() string {
	return "spans: " + b.spans + " | metrics: " + b.metrics + " | client: " + b.client + " | public: " + b.public
}

func effectOf(without, with replayOutput) frameEffect {
	b := frameEffect{spans: "nothing", metrics: "nothing", client: "stays in", public: "stays in"}
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

// addedSpans returns new spans, and new facts of the others.
func addedSpans(without, with harness.SpanLines) (added []string) {
	old := map[string][]string{}
	for _, s := range without {
		old[without.Path(s)] = without.Facts(s)
	}
	for _, s := range with {
		path := with.Path(s)
		before, known := old[path]
		facts := slices.DeleteFunc(with.Facts(s), func(fact string) bool { return slices.Contains(before, fact) })
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

// batches is a sink that only consumes batches.
type batches func(*event.Batch)

func (batches) Open(*event.Stream)                        {}
func (f batches) Consume(b *event.Batch)                  { f(b) }
func (batches) Close(*event.Stream, event.End, time.Time) {}
