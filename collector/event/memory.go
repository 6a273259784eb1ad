package event

import (
	"unsafe"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// memory holds the frame, the texts and the JSON documents of one batch. None of it is used again before reset.
type memory struct {
	frame   []byte
	chunk   []byte // of texts; a full chunk is replaced and stays with its texts
	earlier int    // bytes of the chunks before
	docs    []*strictjson.Doc
	parsed  int // number of docs in use
}

const (
	keptBytes  = 64 << 10 // of each buffer, from one frame to the next
	keptDocs   = 2        // likewise: few frames have JSON in more than one string
	leastChunk = 512
	anyDepth   = 10_000 // as deep as strictjson reads
)

// emptied returns s without its elements, or nil if its capacity is over most.
func emptied[E any](s []E, most int) []E {
	if cap(s) > most {
		return nil
	}
	return s[:0]
}

func (m *memory) reset() {
	m.frame, m.chunk = emptied(m.frame, keptBytes), emptied(m.chunk, keptBytes)
	for _, doc := range m.docs[:m.parsed] {
		doc.Reset()
	}
	if len(m.docs) > keptDocs {
		clear(m.docs[keptDocs:])
		m.docs = m.docs[:keptDocs]
	}
	m.earlier, m.parsed = 0, 0
}

func (m *memory) copyFrame(f sse.Frame) sse.Frame {
	id, name := len(f.ID), len(f.ID)+len(f.Event)
	m.frame = append(append(append(m.frame[:0], f.ID...), f.Event...), f.Data...)
	f.ID, f.Event, f.Data = m.frame[:id:id], m.frame[id:name:name], m.frame[name:len(m.frame):len(m.frame)]
	return f
}

// room returns an empty slice with room for n bytes. What is appended to it must be passed to keep before room is called again.
func (m *memory) room(n int) []byte {
	if cap(m.chunk)-len(m.chunk) < n {
		m.earlier += cap(m.chunk)
		m.chunk = make([]byte, 0, max(n, leastChunk))
	}
	end := len(m.chunk)
	return m.chunk[end:end:cap(m.chunk)]
}

func (m *memory) keep(text []byte) []byte {
	m.chunk = m.chunk[:len(m.chunk)+len(text)]
	return text[:len(text):len(text)]
}

func (m *memory) copy(text []byte) []byte { return m.keep(append(m.room(len(text)), text...)) }

// owns reports whether v is part of the batch.
func (m *memory) owns(v strictjson.Value) bool {
	for _, doc := range m.docs[:m.parsed] {
		if doc.Holds(v) {
			return true
		}
	}
	return false
}

// text returns the text of v, or nil if v is no string.
func (m *memory) text(v strictjson.Value) []byte {
	switch {
	case v.Kind() != strictjson.String:
		return nil
	case !v.Escaped() && m.owns(v):
		return v.Text()
	}
	return m.keep(v.AppendText(m.room(len(v.Raw()))))
}

// value returns v, or a copy of it if it is not part of the batch.
func (m *memory) value(v strictjson.Value) strictjson.Value {
	if v.Exists() && !m.owns(v) {
		v, _ = m.parse(m.copy(v.Raw()), anyDepth)
	}
	return v
}

// parse reads data, which must be part of the batch, into a document that no other value uses.
func (m *memory) parse(data []byte, depth int) (strictjson.Value, Reason) {
	if m.parsed == len(m.docs) {
		m.docs = append(m.docs, new(strictjson.Doc))
	}
	doc := m.docs[m.parsed]
	if err := doc.Parse(data, depth); err != nil {
		return strictjson.Value{}, Reason(err.(*strictjson.Error).Reason) // as Parse promises
	}
	m.parsed++
	return doc.Root(), ""
}

func (m *memory) cost() int {
	n := cap(m.frame) + cap(m.chunk) + m.earlier + len(m.docs)*int(unsafe.Sizeof(strictjson.Doc{}))
	for _, doc := range m.docs {
		n += doc.Cost()
	}
	return n
}
