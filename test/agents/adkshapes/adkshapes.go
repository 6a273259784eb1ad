// Package adkshapes holds ADK agents of many shapes, and recordings of what a real ADK server streamed and which spans it
// made when it ran them; for tests only, on Unix.
//
// .ci/install/adk-python installs ADK 2, ".ci/install/adk-python 1" ADK 1, and .ci/install/adk-js the one for JavaScript. The agents
// are functions in python/shapes and js/shapes. recordings/VERSION has SHAPE.json and, with streaming, SHAPE.stream.json; ".2" marks
// the second request of a session. The tests record all anew with -update: do that on an idle machine, and read the diff of
// testdata/*.facts.
package adkshapes

import (
	"cmp"
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
)

// Versions are the versions of ADK that recordings exist of: two for Python, one for JavaScript.
var Versions = []string{"2.13", "1.38", "js-2.0"}

//go:embed python/*.py python/shapes/*.py js/*.mjs js/shapes/*.mjs
var agents embed.FS

//go:embed recordings
var recordings embed.FS

// Recording is one run: a request to /run_sse, the frames of the answer, and the spans that ADK made of it. Times are
// nanoseconds since the epoch, read in the server's process.
type Recording struct {
	Name      string          `json:"-"`         // SHAPE[.stream][.N]; N counts from 2
	Version   string          `json:"-"`         // one of Versions
	ADK       string          `json:"adk"`       // such as 2.13.0
	Shape     string          `json:"shape"`     // its app has the same name
	App       string          `json:"app"`       // the name that the request uses
	Root      string          `json:"root"`      // the root agent's own name
	Streaming bool            `json:"streaming"` // whether the request asked for partial frames
	Request   json.RawMessage `json:"request"`
	Arrived   int64           `json:"arrived"`
	Ended     int64           `json:"ended"`
	Frames    []Frame         `json:"frames"`
	Spans     []Span          `json:"spans"`
}

// Frame is one SSE frame.
type Frame struct {
	At   int64  `json:"at"`   // just before the server wrote it
	Data string `json:"data"` // the exact text of its data line
}

// Span is a span as ADK's own instrumentation ended it. Kind, Scope and Status are empty where they are INTERNAL,
// gcp.vertex.agent and UNSET. Attributes with content are left out.
type Span struct {
	Name       string         `json:"name"`
	ID         string         `json:"id"`
	Parent     string         `json:"parent,omitempty"`
	Kind       string         `json:"kind,omitempty"`
	Scope      string         `json:"scope,omitempty"`
	Start      int64          `json:"start"`
	End        int64          `json:"end"`
	Status     string         `json:"status,omitempty"`
	Attributes map[string]any `json:"attributes,omitempty"`
}

// Recordings returns all recordings, by version and name.
func Recordings(t testing.TB) []Recording {
	t.Helper()
	return load(t, recordings)
}

func load(t testing.TB, tree fs.FS) []Recording {
	t.Helper()
	var all []Recording
	for _, version := range Versions {
		dir := path.Join("recordings", version)
		entries, err := fs.ReadDir(tree, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			data, err := fs.ReadFile(tree, path.Join(dir, entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			r := Recording{Name: strings.TrimSuffix(entry.Name(), ".json"), Version: version}
			if err := json.Unmarshal(data, &r); err != nil {
				t.Fatalf("recording %s of ADK %s: %v", r.Name, version, err)
			}
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b Recording) int { // a session's second run after its first, as no folder sorts them
		return cmp.Or(cmp.Compare(slices.Index(Versions, a.Version), slices.Index(Versions, b.Version)), cmp.Compare(a.Name, b.Name))
	})
	return all
}
