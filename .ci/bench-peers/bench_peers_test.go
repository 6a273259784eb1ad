package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/pprof/profile"
)

func TestParse(t *testing.T) {
	got := parse(`goos: linux
BenchmarkFanOut/100-2         	       2	     150000 deliveries/cpu-s	        13.5 x-plain
BenchmarkFanOut/100-2         	       2	     140000 deliveries/cpu-s	        15.5 x-plain
BenchmarkLongRun 	     100	         1.025 x/short
PASS
`)
	want := map[string]samples{
		"FanOut/100 deliveries/cpu-s": {150000, 140000}, "FanOut/100 x-plain": {13.5, 15.5}, "LongRun x/short": {1.025},
	}
	if !maps.EqualFunc(got, want, func(a, b samples) bool { return a.String() == b.String() }) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSamples(t *testing.T) {
	for want, s := range map[string]samples{
		"not measured":     nil,
		"21.3":             {21.3},
		"1.20 (0.95–137)":  {137, 0.95, 1.2},
		"2.00 (1.00–10.0)": samples{2, 8, 100}.through(samples{2, 4, 10}),
		"3.00 (2.00–4.00)": samples{1, 1.5, 2}.times(2),
	} {
		if got := s.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(path, []byte("a\n<!-- measured: x -->\nold\n<!-- end -->\nb\n<!-- measured: y -->\nkept\n<!-- end -->\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replace(path, "x", "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "a\n<!-- measured: x -->\nnew\n<!-- end -->\nb\n<!-- measured: y -->\nkept\n<!-- end -->\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if err := replace(path, "z", "new\n"); err == nil {
		t.Error("a document without the markers was written")
	}
}

// TestMarkers checks that the document has markers for every part but those that are only printed.
func TestMarkers(t *testing.T) {
	content, err := os.ReadFile("../../docs/design/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		if err := replace(path, s.name, ""); (err == nil) == s.printed {
			t.Errorf("%s, printed %t: %v", s.name, s.printed, err)
		}
	}
}

func TestPartOf(t *testing.T) {
	for want, stack := range map[string][]string{ // the innermost first
		"strict parse":       {"runtime.memmove", product + "collector/strictjson.(*Doc).value", product + "collector/strictjson.(*Doc).Parse", product + "collector.(*Decoding).parse"},
		"dialect":            {product + "collector/strictjson.Value.First", product + "collector/dialect/adk.(*decoder).Decode", product + "collector.(*Collector).Observe"},
		"collecting garbage": {"runtime.scanobject", "runtime.gcAssistAlloc", "runtime.mallocgc", product + "exporter/tracker.(*Tracker).Consume"},
		between:              {product + "collector.(*Collector).Observe"},
		elsewhere:            {"runtime.findRunnable"},
		"":                   {product + "collector/sse.(*Reader).Next", product + "test/e2e/cost_test.workload.validate.func1"},
	} {
		var sample profile.Sample
		for _, name := range stack {
			sample.Location = append(sample.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
		}
		if got, _ := partOf(&sample); got != want {
			t.Errorf("%v is %q, want %q", stack, got, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	good, bad, none := result{found: samples{1}, good: atMost(2)}, result{found: samples{3}, good: atMost(2)}, result{good: flat}
	for want, reached := range map[string][]result{
		"met": {good, none}, "missed": {bad}, "met by 1 of 2": {good, bad}, notMeasured: {none},
	} {
		if got := (goal{reached: reached}).verdict(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
