package dialecttest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// Filter returns the event name and the data with which a frame passes a filter, and whether it passes.
type Filter func(*event.Batch) (name string, data []byte, passes bool)

// Filtered returns the part of a stream that passes a filter.
func Filtered(d dialect.Dialect, stream string, filter Filter) string {
	var out []byte
	eachBatch(d, stream, func(b *event.Batch) {
		if name, data, passes := filter(b); passes {
			out, _ = sse.AppendFrame(out, sse.Frame{Event: []byte(name), Data: data})
		}
	})
	return string(out)
}

// Invented decodes a stream, and then the part of it that passes a filter. The formats of the external stream decode that part,
// too. Invented returns what only the filtered stream states about runs, models, tools, answers, questions and failures.
func Invented(d dialect.Dialect, stream string, filter Filter) (all []string) {
	stated, shown := statements{}, statements{}
	eachBatch(d, stream, stated.add)
	eachBatch(d, Filtered(d, stream, filter), shown.add)
	for _, statement := range slices.Sorted(maps.Keys(shown)) {
		if shown[statement] > stated[statement] {
			all = append(all, statement)
		}
	}
	return all
}

// eachBatch decodes a stream and calls each with every batch.
func eachBatch(d dialect.Dialect, stream string, each func(*event.Batch)) {
	frames, _ := readFrames([]byte(stream)) // an error means that there are none
	s := newSession(d, false)
	for _, f := range frames {
		s.batch = new(event.Batch)
		read := s.read(f)
		s.batch.Table = d.Table()
		s.decoder.Decode(read, s.batch)
		each(s.batch)
	}
}

// statements counts what a stream states. A run counts once.
type statements map[string]int

func (s statements) add(b *event.Batch) {
	if b.Internal {
		return
	}
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
