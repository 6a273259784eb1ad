package adkshapes

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "record every run anew and rewrite testdata/*.facts")

// TestRecordings drives real servers. A recording must have the structure of what they do today.
func TestRecordings(t *testing.T) {
	for _, version := range Versions {
		t.Run(version, func(t *testing.T) {
			if !*update {
				t.Parallel() // when recording, times count
			}
			if *update {
				Start(t, version).record(t)
				return
			}
			Start(t, version).compare(t)
		})
	}
}

// record plays one run after the other, so that their times say something.
func (s *Server) record(t *testing.T) {
	dir := filepath.Join("recordings", s.Version)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.converse(s.Shapes[0], false, []string{"warm-up"}); err != nil {
		t.Fatal(err)
	}
	for _, shape := range s.Shapes {
		for _, streaming := range shape.modes() {
			for _, r := range s.calmest(t, shape, streaming) {
				if err := os.WriteFile(filepath.Join(dir, r.Name+".json"), r.encode(t), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// calmest plays a shape three times and returns the fastest: what another process delayed is not ADK's doing.
func (s *Server) calmest(t *testing.T, shape Shape, streaming bool) []Recording {
	lasted := func(runs []Recording) (sum int64) {
		for _, r := range runs {
			sum += r.Ended - r.Arrived
		}
		return sum
	}
	var best []Recording
	for range 3 {
		if runs := s.Play(t, shape, streaming); best == nil || lasted(runs) < lasted(best) {
			best = runs
		}
	}
	return best
}

func (s Shape) modes() []bool {
	if s.Streamed {
		return []bool{false, true}
	}
	return []bool{false}
}

// encode writes one line for each frame and span.
func (r Recording) encode(t *testing.T) []byte {
	frames, spans := r.Frames, r.ordered()
	r.Frames, r.Spans = nil, nil
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	line := func(value any) {
		if err := encoder.Encode(value); err != nil {
			t.Fatal(err)
		}
		out.Truncate(out.Len() - 1)
	}
	line(r)
	out.Truncate(bytes.LastIndex(out.Bytes(), []byte(`,"frames"`)))
	out.WriteString(",\n\"frames\":[")
	for i, f := range frames {
		out.WriteString(separator(i))
		line(f)
	}
	out.WriteString("],\n\"spans\":[")
	for i, s := range spans {
		out.WriteString(separator(i))
		line(s)
	}
	out.WriteString("]}\n")
	return out.Bytes()
}

func separator(i int) string {
	if i == 0 {
		return "\n"
	}
	return ",\n"
}

// racing are the shapes in which one branch fails while others run: how far the others get depends on how busy the machine is.
// TestLiveRuns compares what Delegraph says of them with what happened.
var racing = []string{"branch_fails", "branch_fails_after_tool", "branch_tool_fails", "workflow_branch_fails", "workflow_branch_raises"}

func (s *Server) compare(t *testing.T) {
	recorded := map[string]Recording{}
	for _, r := range Recordings(t) {
		if r.Version == s.Version {
			recorded[r.Name] = r
		}
	}
	live := s.playAll(t)
	if len(live) != len(recorded) {
		t.Errorf("%d runs, but %d recordings: go test -update", len(live), len(recorded))
	}
	for _, got := range live {
		want, ok := recorded[got.Name]
		if !ok {
			t.Errorf("%s has not been recorded: go test -update", got.Name)
			continue
		}
		if got.ADK != want.ADK || got.Root != want.Root {
			t.Errorf("%s: ADK %s with the root %s, recorded with %s and %s", got.Name, got.ADK, got.Root, want.ADK, want.Root)
		}
		if g, w := got.structure(), want.structure(); g != w && !slices.Contains(racing, got.Shape) {
			t.Errorf("%s: structure\n%s\nrecorded\n%s", got.Name, g, w)
		}
	}
}

// playAll plays several shapes at a time: only their structure is of interest.
func (s *Server) playAll(t *testing.T) []Recording {
	var (
		mu   sync.Mutex
		all  []Recording
		busy sync.WaitGroup
	)
	slots := make(chan struct{}, 6)
	for _, shape := range s.Shapes {
		for _, streaming := range shape.modes() {
			slots <- struct{}{}
			busy.Go(func() {
				defer func() { <-slots }()
				played, err := s.play(shape, streaming)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				all = append(all, played...)
			})
		}
	}
	busy.Wait()
	return all
}

// TestFacts keeps a readable form of all recordings beside them, without those of streaming runs.
func TestFacts(t *testing.T) {
	for _, version := range Versions {
		var blocks []string
		for _, r := range load(t, os.DirFS(".")) { // the embedded ones may have just been replaced
			if r.Version == version && !r.Streaming {
				blocks = append(blocks, r.facts())
			}
		}
		got := strings.Join(blocks, "\n")
		path := filepath.Join("testdata", version+".facts")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is not what the recordings say: go test -run TestFacts -update, and read the diff", path)
		}
	}
}
