// Package custom decodes the stream of any agent according to a mapping in the configuration.
// Frames and members that the mapping does not name are not interpreted; frames of unmapped types
// are withheld.
package custom

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Name is the dialect's name.
const Name = "custom"

// Dialect implements dialect.Dialect for one mapping. It is never detected, and reads only streams of
// the source that has the mapping.
type Dialect struct {
	typePath        path // path to a frame's type; nil if the SSE event name is the type
	failureStatuses []string
	endMarker       string
	hiddenMembers   []string
	frames          map[string]*frame
	callPaths       []callPaths // of the types of frames about calls
	table           *event.Table
	prefilter       *lenient.Prefilter
}

// frame describes a type of frame: its meaning and its parsed paths.
type frame struct {
	means string
	paths map[string]path
}

type path []string

// callPaths are the paths to the run, the ID and the tool of a call; nil for none.
type callPaths struct{ run, id, tool path }

// New returns the dialect of a mapping that the configuration has validated. A frame with an
// unknown meaning reports nothing.
func New(m Mapping) Dialect {
	d := Dialect{typePath: parse(m.Paths[PathType]), failureStatuses: m.FailureStatuses, endMarker: m.EndMarker, frames: make(map[string]*frame, len(m.Frames))}
	for _, name := range m.HiddenMembers { // in the form in which the filter compares names
		d.hiddenMembers = append(d.hiddenMembers, string(lenient.Text([]byte(name))))
	}
	for name, f := range m.Frames {
		paths := map[string]path{}
		for member, text := range m.paths(f) {
			if p := parse(text); p != nil {
				paths[member] = p
			}
		}
		d.frames[name] = &frame{means: f.Means, paths: paths}
		if strings.HasPrefix(f.Means, "tool_") {
			d.callPaths = append(d.callPaths, callPaths{paths[pathRun], paths[pathCall], paths[pathName]})
		}
	}
	d.table = d.newTable()
	d.prefilter = lenient.NewPrefilter(d.table)
	return d
}

func parse(text string) path {
	if text == "" {
		return nil
	}
	return strings.Split(text, ".")
}

// lookup returns the value at the path, which may not exist.
func (p path) lookup(v strictjson.Value) strictjson.Value {
	if p == nil {
		return strictjson.Value{}
	}
	for _, name := range p {
		v = v.Get(name)
	}
	return v
}

// Name returns "custom".
func (Dialect) Name() string { return Name }

// Paths returns nothing: a proxy's configuration names the paths.
func (Dialect) Paths() []dialect.Path { return nil }

// Identify reads nothing of a request.
func (Dialect) Identify(dialect.Request) event.Identity { return event.Identity{} }

// Detect returns at most Maybe, so that no stream is detected as this mapping's. It returns Maybe
// for every frame with a type, so that frames of the mapping's own stream are not attributed to
// another dialect.
func (d Dialect) Detect(f dialect.Frame) dialect.Match {
	if f.JSON.Kind() == strictjson.Object && d.typeOf(f) != "" {
		return dialect.Maybe
	}
	return dialect.No
}

func (d Dialect) typeOf(f dialect.Frame) string {
	if d.typePath == nil {
		return string(f.Event)
	}
	if v := d.typePath.lookup(f.JSON); v.Kind() == strictjson.String {
		return v.String()
	}
	return ""
}

// Table returns the rules for the external stream, which New derives from the mapping.
func (d Dialect) Table() *event.Table { return d.table }

// New returns a decoder.
func (d Dialect) New(s *event.Stream) dialect.Decoder {
	return &decoder{Dialect: d, ownName: s.ConfiguredAgent, singleRun: s.SingleRun}
}
