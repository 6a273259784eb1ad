package custom

import "github.com/delegraph/delegraph/collector/event"

// ending describes how something has ended. The zero value means success.
type ending struct {
	failure event.Failure
	code    string
}

// runOutcome says how a run has ended.
type runOutcome uint8

const (
	notEnded runOutcome = iota
	succeeded
	failed
)

// maxEnded bounds decoder.ended. When it is full, all its runs are forgotten.
const maxEnded = 64

// addRunEnd adds the end of a run. It returns nil if an earlier frame has stated the end, such as one before the stream's end
// marker. But the first failure of a run that had succeeded changes its end.
func (d *decoder) addRunEnd(b *event.Batch, how ending) *event.Event {
	known, now := d.ended[b.Run], succeeded
	if how.failure != event.NoFailure {
		now = failed
	}
	if known >= now {
		b.Add(event.KindOther)
		return nil
	}
	if d.ended == nil || len(d.ended) >= maxEnded {
		d.ended = make(map[string]runOutcome)
	}
	d.ended[b.Run] = now
	d.calls.endRun(d.runOfCalls(b.Run))
	if now == failed {
		e := b.Add(event.KindError)
		e.Error, e.Code = how.failure, how.code
	}
	e := b.Add(event.KindRunEnded)
	e.Error, e.Code = how.failure, how.code
	return e
}

// beginUnnamedRun forgets the end of a run without an ID if the frame is work of the next one, which may have no start.
func (r *reading) beginUnnamedRun() {
	switch r.means {
	case "agent_started", "tool_started", "text_delta", "text", "answer", "thought":
		if r.b.Run == "" && !r.singleRun {
			delete(r.ended, "")
		}
	}
}
