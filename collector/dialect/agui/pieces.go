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

// joined is the hash of pieces.
type joined struct {
	hash maphash.Hash
	size int // in bytes
}

func (j *joined) add(piece strictjson.Value) {
	if j.size == 0 {
		j.hash.SetSeed(piecesSeed)
	}
	j.hash.Write(piece.Text())
	j.size += len(piece.Text())
}

// joinedOf returns the pieces of a message that a frame is of, with the ID of the message, or nil. The message may have ended.
func (d *decoder) joinedOf(v strictjson.Value) (id string, all *joined) {
	if m := d.messageOf(v); m != nil {
		return m.id, &m.joined
	}
	id = d.name(v.Get("messageId"))
	if said := d.messages.saidIn(id); said != nil {
		return id, &said.joined
	}
	return id, nil
}

// withholdPiece withholds a frame, but not what it is a piece of.
func (d *decoder) withholdPiece(k *kind, v strictjson.Value, b *event.Batch) {
	b.Internal = true
	b.Add(event.KindOther)
	d.addWithheldValues(v, b)
	call := d.name(v.Get("toolCallId"))
	d.secondStarts.addWithheld(k, call)
	if k.entity == entityThought {
		d.cutThoughts.Add(d.name(v.Get("messageId")))
	}
	if open := d.calls.find(call, d.owner(v)); open != nil {
		open.lacksArgs, open.hidesArgs = true, true
		d.hideInternalDelegate(open)
	}
	if k.entity != entityMessage || len(v.Get("delta").Text()) == 0 {
		return
	}
	id, all := d.joinedOf(v)
	if all == nil {
		d.withheld.add(messageKey(id)) // what it begins with is not known
		return
	}
	all.add(v.Get("delta"))
	if d.pieces == nil {
		d.pieces = make(pieces)
	}
	if _, known := d.pieces[id]; !known && len(d.pieces) >= wire.MaxSet {
		d.withheld.overflowed = true
		return
	}
	d.pieces[id] = beginning{all.hash.Sum64(), all.size}
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
