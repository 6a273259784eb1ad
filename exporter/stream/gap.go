package stream

import (
	"fmt"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// gapEvent is the event name of a gap frame.
const gapEvent = "delegraph.gap"

// appendGap tells a subscriber that what follows does not follow on what it had. The frame's id is that of the place before
// what follows, so that whoever is cut off behind it resumes with exactly that.
func appendGap(dst []byte, id string, g *replay.Gap) []byte {
	frame, err := sse.AppendFrame(dst, sse.Frame{ID: []byte(id), Event: []byte(gapEvent), Data: gapData(g)})
	if err != nil {
		panic("stream: an id of ours holds a line end: " + err.Error())
	}
	return frame
}

// GapEntry is the same for all readers of a ring, whose frames somebody else has numbered: some of a session's are missing behind a
// number.
func GapEntry(g *replay.Gap, number uint64, session string) replay.Entry {
	return replay.Entry{Session: session, Name: gapEvent, Data: gapData(g), Gap: g, Number: number}
}

func gapData(g *replay.Gap) []byte {
	return fmt.Appendf(nil, `{"reason":"%s","requested":%s,"oldest":%s,"head":%s}`,
		g.Reason, quoted(g.Requested), quoted(g.Oldest), quoted(g.Head))
}

// quoted is an id in JSON. Ids need no escapes.
func quoted(id string) string {
	if id == "" {
		return "null"
	}
	return `"` + id + `"`
}

// appendPosition is a comment that tells a subscriber where it stands. A block without data is no event, but its id is kept
// for the next resume (WHATWG HTML 9.2.6, dispatch the event, step 1). So somebody who has been sent nothing, or nothing for
// long, comes back to the place where it was, and not to wherever the stream is by then.
func appendPosition(dst []byte, id, comment string) []byte {
	dst = append(dst, "id: "...)
	dst = append(dst, id...)
	dst = append(dst, '\n')
	return sse.AppendComment(dst, comment)
}
