package main

import (
	"flag"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/design/scale.md")

const (
	document = root + "/docs/design/scale.md"
	measured = root + "/docs/design/scale.json"
)

// TestDocument checks that the tables of the document are those that the program computes from the stored figures.
func TestDocument(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors multiply and add in one step, which rounds otherwise, and the simulation is of many steps")
	}
	f, err := load(measured)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for _, table := range tables(f) {
		opening := "<!-- " + table.name + " -->\n"
		before, rest, found := strings.Cut(text, opening)
		has, after, closed := strings.Cut(rest, "<!-- end -->")
		if !found || !closed {
			t.Errorf("%s has no place for %q", document, table.name)
			continue
		}
		if has != table.text && !*update {
			t.Errorf("%s is not what the figures say: run go -C .ci/scale test . -update, and read the diff", table.name)
		}
		text = before + opening + table.text + "<!-- end -->" + after
	}
	if *update {
		if err := os.WriteFile(document, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// given are round figures: each time is 100 µs, each memory size 1 kB.
func given() *figures {
	f := &figures{}
	for _, c := range wanted {
		c.Runs = []float64{100_000}
		if !strings.Contains(c.Metric, "ns/") {
			c.Runs = []float64{1000}
		}
		f.Costs = append(f.Costs, c)
	}
	return f
}

func TestLeast(t *testing.T) {
	f := given()
	for _, s := range []size{{10, 100, 200}, {100, 1e3, 1e4}, {1000, 13_000, 1e4}} {
		for _, how := range []way{atRandom, bySession} {
			p := least(f, s, how, seed)
			readers := 0
			for _, c := range p.cells {
				if c.leader() > target || c.busiest() > target {
					t.Errorf("%v %s: the leader is at %v, a gateway at %v", s, how, c.leader(), c.busiest())
				}
				dealt := 0
				for _, session := range c.sessions {
					for _, at := range session.at {
						dealt += at.readers
					}
				}
				if dealt != c.readers() {
					t.Errorf("%v %s: %d readers are at gateways, of %d", s, how, dealt, c.readers())
				}
				if less := c.gateways - 1; less > 0 {
					if c.place(less, seed); c.busiest() <= target && c.gateways < 50 {
						t.Errorf("%v %s: %d gateways would do", s, how, less)
					}
				}
				readers += c.readers()
			}
			if float64(readers) < 0.95*s.readers || float64(readers) > 1.05*s.readers {
				t.Errorf("%v %s: %d readers", s, how, readers)
			}
			// A stream takes 6,000 events a second of 100 µs each at 60 %.
			if want := int(s.events/6000) + 1; len(p.cells) != want {
				t.Errorf("%v %s: %d streams, want %d", s, how, len(p.cells), want)
			}
		}
	}
}

func TestQueue(t *testing.T) {
	q := newQueue(2, 1)
	for i, step := range []struct{ at, work, width, begins, ends float64 }{
		{10, 3, 1, 10, 14}, // the worker is woken, and one core is enough
		{11, 2, 9, 12, 13}, // two cores
		{12, 4, 2, 13, 15}, // waits for the job before
		{30, 1, 2, 30, 31}, // woken again
		{30.5, 2, 2, 31, 32},
	} {
		if begins, ends := q.do(step.at, step.work, step.width); begins != step.begins || ends != step.ends {
			t.Errorf("step %d: from %v to %v, want from %v to %v", i, begins, ends, step.begins, step.ends)
		}
	}
}

// TestScenarios checks that incidents delay the readers that they affect, and no others.
func TestScenarios(t *testing.T) {
	c := least(given(), size{100, 500, 20_000}, atRandom, seed).largest()
	if c.gateways < 3 {
		t.Fatalf("%d gateways are too few for a gateway to go", c.gateways)
	}
	quiet := c.simulate(steady, seed)
	if again := c.simulate(steady, seed); again != quiet {
		t.Errorf("one seed gives %v and %v", quiet, again)
	}
	if quiet.above != 0 && quiet.p50 > 1 {
		t.Errorf("where nothing happens: %+v", quiet)
	}
	for _, what := range scenarios()[2:] {
		if o := c.simulate(what, seed); o.worst < quiet.worst || o.above <= quiet.above {
			t.Errorf("%s: %+v, and without it %+v", what, o, quiet)
		}
	}
	if o := c.simulate(noNode, seed); o.worst < electLeast {
		t.Errorf("nobody waited for a leader: %+v", o)
	}
}

func TestParse(t *testing.T) {
	got := parse([]byte("goos: linux\nBenchmarkFeeds/1000_of_1_servers-2 \t 4000\t 5 ns/op\t 17.5 B/feed\nPASS\n"))
	if got["Feeds/1000_of_1_servers"]["B/feed"] != 17.5 {
		t.Errorf("%v", got)
	}
}

// TestCosts checks that a benchmark measures each cost.
func TestCosts(t *testing.T) {
	for _, c := range wanted {
		if !slices.ContainsFunc(runs, func(r benchmark) bool { return r.pkg == c.Package && strings.HasPrefix(c.Benchmark, r.bench) }) {
			t.Errorf("nothing measures %q", c.Name)
		}
	}
}
