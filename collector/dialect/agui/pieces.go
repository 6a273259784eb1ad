package agui

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// pieces finds messages and calls in lists that are joined from pieces, of which some were withheld alone. The maps have messages,
// thoughts and calls of all runs.
type pieces struct {
	joined   map[key]digest // of all pieces, except those of thoughts: a list may have the text of several as one
	withheld map[key]digest // of the pieces up to the last that was withheld alone
	left     map[key]digest // of the pieces of messages and calls that left
}

// digest is a hash of a text without its white space, and with its characters beyond ASCII escaped: agents trim what they say, and format
// arguments anew. The zero value is that of "".
type digest struct {
	hash uint64
	size int // in bytes
}

// unknownText is the digest of a text that is not known.
var unknownText = digest{size: -1}

// add adds a text by FNV-1a.
func (d *digest) add(text []byte) {
	for word := range bytes.FieldsSeq(text) {
		word = escaped(word)
		for _, c := range word {
			d.hash = (d.hash ^ uint64(c)) * 1099511628211
		}
		d.size += len(word)
	}
}

// digestOf returns the digest of a text.
func digestOf(text []byte) (d digest) {
	d.add(text)
	return d
}

// mayBegin reports whether a text begins with that of the digest, or may do so.
func (d digest) mayBegin(text []byte) bool {
	var start digest
	for word := range bytes.FieldsSeq(text) {
		if word = escaped(word); start.size < d.size {
			start.add(word[:min(len(word), d.size-start.size)])
		}
	}
	return len(text) > 0 && (d == unknownText || d == start)
}

// escaped returns a text with its characters beyond ASCII as Python's json.dumps writes them.
func escaped(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return text
	}
	var ascii []byte
	for _, r := range string(text) {
		if r < utf8.RuneSelf {
			ascii = append(ascii, byte(r))
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			ascii = fmt.Appendf(ascii, `\u%04x`, unit)
		}
	}
	return ascii
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

// addLeft records that a frame left: a start, or a piece. A start may be another one of the same message or call, with the same text.
func (p *pieces) addLeft(k *kind, of key, piece []byte) {
	text, known := p.left[of]
	switch {
	case k.begins:
		text = digest{}
	case len(piece) == 0:
		return
	}
	if p.left == nil {
		p.left = make(map[key]digest)
	}
	if text.add(piece); known || (k.begins || k.chunk && of.id != "") && len(p.left) < wire.MaxSet {
		p.left[of] = text
	}
}

// haveLeft reports whether a message with a text left.
func (p *pieces) haveLeft(text digest) bool {
	for this, left := range p.left {
		if this.entity == entityMessage && left == text {
			return true
		}
	}
	return false
}

// mayBeIn reports whether a text of a message or call has, or may have, a piece that was withheld alone. A text that left as a whole has
// none.
func (p *pieces) mayBeIn(this key, text []byte) bool {
	start, known := p.withheld[this]
	if !known || !start.mayBegin(text) {
		return false
	}
	left, hasLeft := p.left[this]
	return !hasLeft || left != digestOf(text)
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
	this, delta := d.workKey(k, v), v.Get("delta").Text()
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
	d.secondStarts.addWithheld(k, d.workKey(k, v))
	if open := d.callOf(v); open != nil && k.entity == entityCall {
		open.lacksArgs, open.hidesArgs = true, true
		d.asked.withhold(open.id, open.tool)
		d.hideInternalDelegate(open)
	}
}

// areIn reports whether a message with an ID has, or may have, pieces that were withheld alone.
func (p *pieces) areIn(id string, message strictjson.Value) bool {
	for _, kind := range [...]entity{entityMessage, entityThought} {
		this := key{entity: kind, id: id}
		if _, known := p.withheld[this]; !known || kind == entityThought && !statesThought(message) {
			continue
		}
		if p.mayBeIn(this, contentOf(message)) {
			return true
		}
	}
	return false
}

// areInCall is areIn for the arguments of a call.
func (p *pieces) areInCall(id string, call strictjson.Value) bool {
	this := key{entity: entityCall, id: id}
	if _, known := p.withheld[this]; !known {
		return false
	}
	texts := argTexts(call)
	return slices.ContainsFunc(texts[:], func(args []byte) bool { return p.mayBeIn(this, args) })
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
