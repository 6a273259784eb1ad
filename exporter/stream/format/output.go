package format

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// output collects the frames that one native frame becomes.
type output struct {
	appendID func([]byte, uint64) []byte
	number   uint64 // of the native frame
	objects  int    // number of ids made for objects that start in the frame
	messages int    // number of ids made for complete messages

	untoldGap *gap // waits for the next event of a run, in a format without another place for it

	json      bytes.Buffer
	frameEnds []int // ends of the frames' data in json
}

// maxReusedBuffer is the largest buffer, in bytes, that is reused for the next frame.
const maxReusedBuffer = 256 << 10

func (o *output) begin(number uint64) {
	o.json.Reset()
	o.number, o.objects, o.messages, o.frameEnds = number, 0, 0, o.frameEnds[:0]
}

// lineEnds are characters that some readers of SSE take for line ends, and their escapes. Package json does not escape the first
// one, nor the others in JSON from the wire.
var lineEnds = []struct{ char, escape []byte }{
	{[]byte("\u0085"), []byte(`\u0085`)}, {[]byte("\u2028"), []byte(`\u2028`)}, {[]byte("\u2029"), []byte(`\u2029`)},
}

// add adds a frame. Encoding cannot fail: JSON from the wire has passed strict parsing.
func (o *output) add(v any) {
	encoder := json.NewEncoder(&o.json)
	encoder.SetEscapeHTML(false)
	before := o.json.Len()
	if err := encoder.Encode(v); err != nil {
		o.json.Truncate(before)
		return
	}
	o.json.Truncate(o.json.Len() - 1) // the line end
	// Values have private characters for halves of surrogate pairs, also in JSON that was sent in a string.
	o.json.Truncate(before + len(strictjson.MakeReadable(o.json.Bytes()[before:])))
	for _, end := range lineEnds {
		if added := o.json.Bytes()[before:]; bytes.Contains(added, end.char) {
			escaped := bytes.ReplaceAll(added, end.char, end.escape)
			o.json.Truncate(before)
			o.json.Write(escaped)
		}
	}
	o.frameEnds = append(o.frameEnds, o.json.Len())
}

// frameID returns the id of the native frame.
func (o *output) frameID() string { return string(o.appendID(nil, o.number)) }

// newID returns an id for an object that starts in this frame. It is the same each time the frame
// is written.
func (o *output) newID() string {
	o.objects++
	return o.frameID() + "." + strconv.Itoa(o.objects)
}

// newMessageID returns an id for a complete message. It has its own count: it is called only if the message is
// written, and the ids of objects must not depend on that.
func (o *output) newMessageID() string {
	o.messages++
	return o.frameID() + ".m" + strconv.Itoa(o.messages)
}

// noteGap keeps a gap for the next event of a run.
func (o *output) noteGap(g *replay.Gap) { o.untoldGap = gapOf(g) }

// takeGap returns the gap that waits, or nil. The caller must write it.
func (o *output) takeGap() *gap {
	g := o.untoldGap
	o.untoldGap = nil
	return g
}

// appendTo appends the frames. Only the last one has the native frame's id, so that a client that
// loses the connection between them receives all of them again. It has no id if a gap follows it or is not told yet, because the
// client must not resume before it knows the gap.
func (o *output) appendTo(dst []byte, gapFollows bool) []byte {
	if n := o.json.Len(); n > maxReusedBuffer {
		dst = slices.Grow(dst, n+n/64)
	}
	start := 0
	for i, end := range o.frameEnds {
		f := sse.Frame{Data: o.json.Bytes()[start:end]}
		if start = end; i == len(o.frameEnds)-1 && !gapFollows && o.untoldGap == nil {
			f.ID = o.appendID(nil, o.number)
		}
		dst, _ = sse.AppendFrame(dst, f) // ids contain no line breaks, so there is no error
	}
	if o.json.Cap() > maxReusedBuffer {
		o.json, o.frameEnds = bytes.Buffer{}, o.frameEnds[:0]
	}
	return dst
}
