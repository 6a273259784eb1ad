package dialecttest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// Filter returns the event name and the data with which a frame passes a filter, and whether it passes.
type Filter func(*event.Batch) (name string, data []byte, passes bool)

// Invented decodes a stream, and again the part of it that passes a filter, as the other formats of the external stream do. It
// returns what only the filtered stream states about runs, models, tools, answers, questions and failures.
func Invented(d dialect.Dialect, stream string, filter Filter) (all []string) {
	frames, err := readFrames([]byte(stream))
	if err != nil {
		return nil
	}
	stated, shown := statements{}, statements{}
	whole, filtered := &event.Stream{Dialect: d.Name()}, &event.Stream{Dialect: d.Name()}
	decoder, again := d.New(whole), d.New(filtered)
	for _, f := range frames {
		b := decode(d, decoder, whole, f)
		if !b.Internal {
			stated.add(b)
		}
		if name, data, passes := filter(b); passes {
			shown.add(decode(d, again, filtered, sse.Frame{Event: []byte(name), Data: data}))
		}
	}
	for _, statement := range slices.Sorted(maps.Keys(shown)) {
		if n := shown[statement] - stated[statement]; n > 0 {
			all = append(all, statement)
		}
	}
	return all
}

func decode(d dialect.Dialect, decoder dialect.Decoder, s *event.Stream, f sse.Frame) *event.Batch {
	b := new(event.Batch)
	b.Begin(s, f, time.Time{})
	b.Table = d.Table()
	malformed := b.Parse(maxDepth)
	decoder.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON, Malformed: malformed}, b)
	return b
}

// statements counts what a stream states.
type statements map[string]int

func (s statements) add(b *event.Batch) {
	s["run "+b.Run] = 1
	for i := range b.Events {
		switch e := &b.Events[i]; e.Kind {
		case event.KindText:
			s[fmt.Sprintf("text, partial %v: %q", b.Partial, e.Text())]++
		case event.KindRunStarted, event.KindModelStarted, event.KindModelEnded, event.KindToolStarted, event.KindToolEnded, event.KindToolPaused,
			event.KindTransfer, event.KindInputRequested, event.KindInputAnswered, event.KindError, event.KindRunEnded, event.KindChildRun:
			s[strings.Join(strings.Fields(fmt.Sprint(e.Kind, " ", e.Name, " ", e.CallID, " ", e.Input, " ", e.Error)), " ")]++
		}
	}
}
