// Package custom decodes the stream of a home-grown agent as a mapping says: what the mapping does not name states nothing and stays in.
package custom

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Name is the dialect's.
const Name = "custom"

// Dialect is that of one mapping. It is never detected: only the streams of the source that has the mapping are read by it.
type Dialect struct {
	kind   path // of a frame's type; nil for the SSE event name
	failed []string
	end    string
	hidden []string
	frames map[string]*frame
	table  *event.Table
}

// frame is what a type of frame means, ready to be used.
type frame struct {
	means string
	paths map[string]path
}

type path []string

// New makes the dialect of a mapping, which the configuration has checked. A meaning that there is not states nothing.
func New(m Mapping) Dialect {
	d := Dialect{kind: parse(m.Paths[PathType]), failed: m.Failed, end: m.End, hidden: m.Hidden, frames: make(map[string]*frame, len(m.Frames))}
	for name, f := range m.Frames {
		paths := map[string]path{}
		for of, text := range m.paths(f) {
			if p := parse(text); p != nil {
				paths[of] = p
			}
		}
		d.frames[name] = &frame{means: f.Means, paths: paths}
	}
	d.table = d.newTable()
	return d
}

func parse(text string) path {
	if text == "" {
		return nil
	}
	return strings.Split(text, ".")
}

// in returns the value to which the path leads, which may not exist.
func (p path) in(v strictjson.Value) strictjson.Value {
	if p == nil {
		return strictjson.Value{}
	}
	for _, name := range p {
		v = v.Get(name)
	}
	return v
}

// Name is "custom".
func (Dialect) Name() string { return Name }

// Paths are none: a proxy's configuration names them.
func (Dialect) Paths() []dialect.Path { return nil }

// Identify reads nothing of a request.
func (Dialect) Identify(dialect.Request) event.Identity { return event.Identity{} }

// Detect is never sure of a frame, so that no stream is taken for one of the mapping, and excludes none that has a type, so that no frame of the
// mapping's own stream makes it another dialect's.
func (d Dialect) Detect(f dialect.Frame) dialect.Match {
	if f.JSON.Kind() == strictjson.Object && d.typeOf(f) != "" {
		return dialect.Maybe
	}
	return dialect.No
}

func (d Dialect) typeOf(f dialect.Frame) string {
	if d.kind == nil {
		return string(f.Event)
	}
	if v := d.kind.in(f.JSON); v.Kind() == strictjson.String {
		return v.String()
	}
	return ""
}

// Table is derived from the mapping.
func (d Dialect) Table() *event.Table { return d.table }

// New starts a stream.
func (d Dialect) New(s *event.Stream) dialect.Decoder {
	return &decoder{Dialect: d, self: s.Agent}
}
