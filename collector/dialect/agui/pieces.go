package agui

import (
	"bytes"
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// pieces finds messages in lists that are joined from pieces, of which some were withheld alone. It has the beginnings of messages up
// to the last such piece, by their IDs.
type pieces map[string]beginning

type beginning struct {
	hash uint64
	size int // in bytes
}

var piecesSeed = maphash.MakeSeed()

// join adds a piece to the hash of a message.
func (m *message) join(piece strictjson.Value) {
	if m.size == 0 {
		m.joined.SetSeed(piecesSeed)
	}
	m.joined.Write(piece.Text())
	m.size += len(piece.Text())
}

// withholdPiece withholds a frame, but not what it is a piece of.
func (d *decoder) withholdPiece(v strictjson.Value, b *event.Batch) {
	b.Internal = true
	b.Add(event.KindOther)
	d.addWithheldValues(v, b)
	id, owner := d.name(v.Get("messageId")), d.owner(v)
	m := d.messages.find(id, owner)
	if id == "" {
		m = d.messages.chunkTarget(owner)
	}
	if open := d.calls.find(d.name(v.Get("toolCallId")), owner); open != nil {
		open.lacksArgs, open.hidesArgs = true, true
		d.hideInternalDelegate(open)
	}
	if m == nil || len(v.Get("delta").Text()) == 0 {
		return
	}
	m.join(v.Get("delta"))
	if d.pieces == nil {
		d.pieces = make(pieces)
	}
	if _, known := d.pieces[m.id]; !known && len(d.pieces) >= wire.MaxSet {
		d.withheld.overflowed = true
		return
	}
	d.pieces[m.id] = beginning{m.joined.Sum64(), m.size}
}

// areIn reports whether a message with an ID has pieces that were withheld alone.
func (p pieces) areIn(id string, message strictjson.Value) bool {
	start, known := p[id]
	if !known {
		return false
	}
	for name, content := range message.Members() {
		if !lenient.MatchesAny(name.Text(), contentMembers) {
			continue
		}
		text := bytes.Clone(content.Text())
		for part := range content.Elements() {
			text = append(text, part.Get("text").Text()...)
		}
		if len(text) >= start.size && maphash.Bytes(piecesSeed, text[:start.size]) == start.hash {
			return true
		}
	}
	return false
}
