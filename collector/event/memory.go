package event

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// memory holds the frame, the texts and the JSON documents of one batch. Nothing in it is reused
// before reset.
type memory struct {
	frame        []byte
	data         []byte // the frame's data if it was not copied into frame
	chunk        []byte // holds texts; when it is full, a new chunk replaces it, and its texts stay valid
	replacedSize int    // capacity of the chunks that were replaced, in bytes
	docs         []*strictjson.Doc
	docsInUse    int
}

// LargeFrame is the size in bytes of the smallest frame whose decoding needs a turn.
const LargeFrame = 64 << 10

// DecodingSize estimates how many bytes decoding data takes at most, including its texts and the JSON in them.
func DecodingSize(data []byte) int {
	nodes := 1
	for _, separator := range [...]string{",", ":", "[", "{"} {
		nodes += bytes.Count(data, []byte(separator))
	}
	return 2*len(data) + strictjson.NodeSize*min(nodes, len(data)/2+1)
}

const (
	maxReusedBytes = 64 << 10 // maximum capacity of each buffer that is reused for the next frame
	maxReusedDocs  = 2        // documents that are reused; few frames have JSON in more than one string
	minChunk       = 512
	maxDepth       = 10_000 // the limit of strictjson
)

// reuse returns s without its elements, or nil if its capacity is over limit.
func reuse[E any](s []E, limit int) []E {
	if cap(s) > limit {
		return nil
	}
	return s[:0]
}

func (m *memory) reset() {
	m.frame, m.chunk = reuse(m.frame, maxReusedBytes), reuse(m.chunk, maxReusedBytes)
	for _, doc := range m.docs[:m.docsInUse] {
		doc.Reset()
	}
	if len(m.docs) > maxReusedDocs {
		clear(m.docs[maxReusedDocs:])
		m.docs = m.docs[:maxReusedDocs]
	}
	m.data, m.replacedSize, m.docsInUse = nil, 0, 0
}

func (m *memory) copyFrame(f sse.Frame) sse.Frame {
	id, name := len(f.ID), len(f.ID)+len(f.Event)
	m.frame = append(append(append(m.frame[:0], f.ID...), f.Event...), f.Data...)
	f.ID, f.Event, f.Data = m.frame[:id:id], m.frame[id:name:name], m.frame[name:len(m.frame):len(m.frame)]
	return f
}

// takeFrame is copyFrame for a frame whose data the batch may keep.
func (m *memory) takeFrame(f sse.Frame) sse.Frame {
	data := f.Data
	f.Data = nil
	f = m.copyFrame(f)
	m.data, f.Data = data, data[:len(data):len(data)]
	return f
}

// reserve returns an empty slice with capacity for n bytes. The caller appends to it and passes the
// result to commit before the next call of reserve.
func (m *memory) reserve(n int) []byte {
	if cap(m.chunk)-len(m.chunk) < n {
		m.replacedSize += cap(m.chunk)
		m.chunk = make([]byte, 0, max(n, minChunk))
	}
	end := len(m.chunk)
	return m.chunk[end:end:cap(m.chunk)]
}

// commit makes text, which was appended to the result of reserve, part of the batch.
func (m *memory) commit(text []byte) []byte {
	m.chunk = m.chunk[:len(m.chunk)+len(text)]
	return text[:len(text):len(text)]
}

func (m *memory) copy(text []byte) []byte { return m.commit(append(m.reserve(len(text)), text...)) }

// owns reports whether v is part of the batch.
func (m *memory) owns(v strictjson.Value) bool {
	return slices.ContainsFunc(m.docs[:m.docsInUse], func(doc *strictjson.Doc) bool { return doc.Contains(v) })
}

// text returns the text of v, or nil if v is not a string.
func (m *memory) text(v strictjson.Value) []byte {
	switch {
	case v.Kind() != strictjson.String:
		return nil
	case !v.Escaped() && m.owns(v):
		return v.Text()
	}
	return m.commit(v.AppendText(m.reserve(len(v.Raw()))))
}

// value returns v, or a copy if v is not part of the batch.
func (m *memory) value(v strictjson.Value) strictjson.Value {
	if v.Exists() && !m.owns(v) {
		v, _ = m.parse(m.copy(v.Raw()), maxDepth, everywhere)
	}
	return v
}

// everywhere lets names differ only by case: a value that was parsed may have come from one of Table.FreeMembers.
var everywhere = []string{strictjson.Everywhere}

// parse reads data, which must be part of the batch, into an unused document.
func (m *memory) parse(data []byte, depth int, free []string) (strictjson.Value, Reason) {
	if m.docsInUse == len(m.docs) {
		m.docs = append(m.docs, new(strictjson.Doc))
	}
	doc := m.docs[m.docsInUse]
	if err := doc.Parse(data, depth, free...); err != nil {
		return strictjson.Value{}, Reason(err.(*strictjson.Error).Reason) //nolint:errorlint // Parse returns no other type
	}
	m.docsInUse++
	return doc.Root(), ""
}

func (m *memory) size() int {
	n := cap(m.frame) + cap(m.data) + cap(m.chunk) + m.replacedSize + len(m.docs)*int(unsafe.Sizeof(strictjson.Doc{}))
	for _, doc := range m.docs {
		n += doc.MemorySize()
	}
	return n
}
