package agui

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// pieces finds messages and calls in lists that are joined from pieces, of which some were withheld alone. Both maps have messages,
// thoughts and calls of all runs.
type pieces struct {
	joined   map[key]digest // of all pieces, except those of thoughts: a list may have the text of several as one
	withheld map[key]digest // of the pieces up to the last that was withheld alone
}

// digest is a hash of a text without its white space: agents trim what they say, and format arguments anew. The zero value is that of "".
type digest struct {
	hash uint64
	size int // in bytes
}

// unknownText is the digest of a text that is not known.
var unknownText = digest{size: -1}

// add adds a text by FNV-1a.
func (d *digest) add(text []byte) {
	for word := range bytes.FieldsSeq(text) {
		for _, c := range word {
			d.hash = (d.hash ^ uint64(c)) * 1099511628211
		}
		d.size += len(word)
	}
}

// mayBegin reports whether a text begins with that of the digest, or may do so.
func (d digest) mayBegin(text []byte) bool {
	var start digest
	for word := range bytes.FieldsSeq(text) {
		if start.size < d.size {
			start.add(word[:min(len(word), d.size-start.size)])
		}
	}
	return len(text) > 0 && (d == unknownText || d == start)
}

// restart records that an entity starts. If it has pieces already, it is unknown which of them a list has.
func (p *pieces) restart(k key) {
	if _, known := p.joined[k]; known {
		p.joined[k] = unknownText
	}
}

// add adds a piece. A piece without an ID may be one of any entity of its kind.
func (p *pieces) add(k key, piece []byte) {
	if p.joined == nil {
		p.joined = make(map[key]digest)
	}
	all, known := p.joined[k]
	if all.add(piece); k.id == "" || p.textOf(k) == unknownText {
		all = unknownText
	}
	if known || k.id == "" || len(p.joined) < wire.MaxSet {
		p.joined[k] = all
	}
}

// textOf returns the digest of the pieces of an entity. That of an entity that is not remembered begins any text.
func (p *pieces) textOf(k key) digest {
	if _, lacks := p.joined[key{entity: k.entity}]; lacks {
		return unknownText
	}
	return p.joined[k]
}

// withhold records that the last piece was withheld alone.
func (p *pieces) withhold(k key) {
	if p.withheld == nil {
		p.withheld = make(map[key]digest)
	}
	p.withheld[k] = p.textOf(k)
}

// addPiece adds the text of a frame to that of its message, thought or call. isAlone says that the frame is withheld alone.
func (d *decoder) addPiece(k *kind, v strictjson.Value, isAlone bool) {
	this, delta := key{entity: k.entity}, v.Get("delta").Text()
	if k.idMember != "" {
		this.id = d.name(v.Get(k.idMember))
	}
	if m := d.messageOf(v); m != nil && k.entity == entityMessage {
		this.id = m.id
	}
	switch {
	case !k.isWork():
		return
	case k.begins:
		d.pieces.restart(this)
	case len(delta) > 0 && k.entity != entityThought:
		d.pieces.add(this, delta)
	}
	if !isAlone || len(bytes.TrimSpace(delta)) == 0 {
		return
	}
	switch _, known := d.pieces.withheld[this]; {
	case this.id == "":
		d.withheld.addNameless(k.entity)
	case !known && len(d.pieces.withheld) >= wire.MaxSet:
		d.withheld.overflowed = true
	default:
		d.pieces.withhold(this)
	}
}

// withholdPiece withholds a frame, but not what it is a piece of.
func (d *decoder) withholdPiece(k *kind, v strictjson.Value, b *event.Batch) {
	b.Internal = true
	b.Add(event.KindOther)
	d.addWithheldValues(v, b)
	call := d.name(v.Get("toolCallId"))
	d.secondStarts.addWithheld(k, call)
	if open := d.calls.find(call, d.owner(v)); open != nil {
		open.lacksArgs, open.hidesArgs = true, true
		d.hideInternalDelegate(open)
	}
}

// areIn reports whether a message with an ID has, or may have, pieces that were withheld alone.
func (p *pieces) areIn(id string, message strictjson.Value) bool {
	for _, kind := range [...]entity{entityMessage, entityThought} {
		start, known := p.withheld[key{entity: kind, id: id}]
		if !known || kind == entityThought && !statesThought(message) {
			continue
		}
		for name, content := range message.Members() {
			if !lenient.MatchesAny(name.Text(), contentMembers) {
				continue
			}
			text := bytes.Clone(content.Text())
			for part := range content.Elements() {
				text = append(text, part.Get("text").Text()...)
			}
			if start.mayBegin(text) {
				return true
			}
		}
	}
	return false
}

// areInCall is areIn for the arguments of a call.
func (p *pieces) areInCall(id string, call strictjson.Value) bool {
	start, known := p.withheld[key{entity: entityCall, id: id}]
	if !known {
		return false
	}
	texts := argTexts(call)
	return slices.ContainsFunc(texts[:], start.mayBegin)
}

// areInOne is areIn for a message or a call.
func (p *pieces) areInOne(id string, v strictjson.Value) bool {
	return p.areIn(id, v) || p.areInCall(id, v)
}

// argTexts returns the arguments of a call in a list, or nil, from each of the members that frameworks use for them.
func argTexts(call strictjson.Value) (texts [3][]byte) {
	for i, args := range [...]strictjson.Value{call.Get("function").Get("arguments"), call.Get("args"), call.Get("input")} {
		if texts[i] = args.Raw(); args.Kind() == strictjson.String {
			texts[i] = args.Text()
		}
	}
	return texts
}
