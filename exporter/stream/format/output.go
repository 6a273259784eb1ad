package format

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/delegraph/delegraph/collector/sse"
)

// output gathers what one native frame becomes.
type output struct {
	appendID func([]byte, uint64) []byte
	number   uint64 // of the native frame
	given    int    // ids that were made for what it begins
	messages int    // and for messages that are written whole

	json bytes.Buffer
	ends []int // of each frame's data in json
}

// maxKept is the size up to which a buffer is kept for the next frame.
const maxKept = 256 << 10

func (o *output) begin(number uint64) {
	if o.json.Cap() > maxKept {
		o.json = bytes.Buffer{}
	}
	o.json.Reset()
	o.number, o.given, o.messages, o.ends = number, 0, 0, o.ends[:0]
}

// add writes one more frame. Values of ours always have an encoding: the wire's JSON among them has passed strict reading.
func (o *output) add(v any) {
	encoder := json.NewEncoder(&o.json)
	encoder.SetEscapeHTML(false)
	before := o.json.Len()
	if err := encoder.Encode(v); err != nil {
		o.json.Truncate(before)
		return
	}
	o.json.Truncate(o.json.Len() - 1) // the line end
	o.ends = append(o.ends, o.json.Len())
}

// place is the id of the native frame.
func (o *output) place() string { return string(o.appendID(nil, o.number)) }

// id is a new one for what begins in this frame: the same each time that the frame is written.
func (o *output) id() string {
	o.given++
	return o.place() + "." + strconv.Itoa(o.given)
}

// messageID is a new one for a message that is written whole. Nobody is ever told more of it, so it need not be made where nobody
// listens.
func (o *output) messageID() string {
	o.messages++
	return o.place() + ".m" + strconv.Itoa(o.messages)
}

// appendTo appends the frames. Only the last has the native frame's id, so that who is cut off between them gets all of them again.
func (o *output) appendTo(dst []byte) []byte {
	start := 0
	for i, end := range o.ends {
		f := sse.Frame{Data: o.json.Bytes()[start:end]}
		if start = end; i == len(o.ends)-1 {
			f.ID = o.appendID(nil, o.number)
		}
		dst, _ = sse.AppendFrame(dst, f) // an id of ours holds no line end: there is no error to come
	}
	return dst
}
