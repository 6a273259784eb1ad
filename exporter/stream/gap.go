package stream

import (
	"fmt"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// gapEvent is the event name of a gap frame.
const gapEvent = "delegraph.gap"

// appendGap appends a frame that tells the subscriber that frames are missing. id is the id of the
// position after the gap. If the client then loses the connection, it resumes there.
func appendGap(dst []byte, id string, g *replay.Gap) []byte {
	frame, err := sse.AppendFrame(dst, sse.Frame{ID: []byte(id), Event: []byte(gapEvent), Data: gapData(g)})
	if err != nil {
		panic("stream: a generated id contains a line break: " + err.Error())
	}
	return frame
}

// untoldID returns an id with which a client that resumes gets a gap again. A number that lies in the future may have
// been reached by then.
func untoldID(g *replay.Gap) string {
	if g.Requested == "" || g.Reason == replay.GapFuture {
		return string(replay.GapUnknown)
	}
	return g.Requested
}

// GapEntry returns an entry that tells all readers of a session that frames are missing after number. It
// is for rings whose frames have the numbers of a store (replay.Entry.Number).
func GapEntry(g *replay.Gap, number uint64, session string) replay.Entry {
	return replay.Entry{Session: session, Name: gapEvent, Data: gapData(g), Gap: g, Number: number}
}

func gapData(g *replay.Gap) []byte {
	return fmt.Appendf(nil, `{"reason":"%s","requested":%s,"oldest":%s,"head":%s}`,
		g.Reason, quoteID(g.Requested), quoteID(g.Oldest), quoteID(g.Head))
}

// quoteID returns id as a JSON string, or null if it is empty. Ids need no escaping.
func quoteID(id string) string {
	if id == "" {
		return "null"
	}
	return `"` + id + `"`
}

// appendPosition appends a comment and the id of the subscriber's position. A block without data
// dispatches no event, but the client keeps its id for the next resume (WHATWG HTML 9.2.6, dispatch
// the event, step 1). So a client that has received no frame, or none for a long time, still
// resumes at its own position and not at the end of the stream.
func appendPosition(dst []byte, id, comment string) []byte {
	dst = append(dst, "id: "...)
	dst = append(dst, id...)
	dst = append(dst, '\n')
	return sse.AppendComment(dst, comment)
}
