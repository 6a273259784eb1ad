package adkstudio

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
)

// withheld finds the frames of a node or a tool call after its start was withheld. Only the start has a mark.
type withheld struct {
	calls wire.WithheldCalls
	nodes wire.Set[string] // names, and wire.UnknownAuthor if there is one
}

var prefilter = lenient.NewPrefilter(&table)

// addStarts remembers what a frame starts, and marks the frame as internal if it is the result of a withheld call.
func (w *withheld) addStarts(b *event.Batch) {
	isWithheld := b.Internal || wire.IsFiltered(b, prefilter)
	for i := range b.Events {
		switch e := &b.Events[i]; {
		case e.Kind == event.KindToolStarted:
			w.calls.Check([]wire.NamedCall{{Tool: e.Name, As: wire.CallBegins}}, isWithheld)
		case isWithheld:
			if e.Kind == event.KindAgentStarted {
				w.nodes.Add(wire.UnknownAuthor)
				w.nodes.Add(b.Agent)
			}
		case e.Kind == event.KindToolEnded:
			b.Internal = w.calls.Check([]wire.NamedCall{{Tool: e.Name, As: wire.CallRepeated}}, false)
		}
	}
}

// hasPart reports whether a frame is of a withheld node, or may have its texts.
func (w *withheld) hasPart(b *event.Batch) bool {
	return b.Agent != "" && w.nodes.MayContain(b.Agent) || slices.ContainsFunc(b.Authors[b.JSON], w.nodes.MayContain)
}
