package agui

import (
	"bytes"
	"strconv"
	"unicode/utf16"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

const (
	escapeSize      = len(halfReplacement)
	halfReplacement = `\ufffd`
	maxPieceDepth   = 64 // nesting of a piece that is read although it is unreadable
)

// readPiece reads an unreadable frame that is strict JSON except for halves of surrogate pairs in its text: agents in
// JavaScript send them if they split a text within a character. Nothing that says what the frame is
// part of may have one. The frame still must not leave, but it is known what it continues.
func readPiece(f dialect.Frame) (k *kind, piece dialect.Frame, ok bool) {
	if f.Malformed != event.Reason(strictjson.InvalidUTF8) {
		return nil, piece, false
	}
	var doc strictjson.Doc
	if doc.Parse(replaceHalves(f.Data), maxPieceDepth) != nil {
		return nil, piece, false
	}
	piece = f
	piece.JSON = doc.Root()
	k = kinds[piece.JSON.Get("type").String()]
	if k == nil || k.textMember == "" || piece.JSON.Get(k.textMember).Kind() != strictjson.String || misspellsLink(k, piece.JSON) {
		return nil, piece, false
	}
	for name, value := range piece.JSON.Members() {
		if !name.Is(k.textMember) && (mayHaveHalf(name) || mayHaveHalf(value)) {
			return nil, piece, false
		}
	}
	return k, piece, true
}

// mayHaveHalf reports whether replaceHalves may have replaced something in a value.
func mayHaveHalf(v strictjson.Value) bool { return bytes.Contains(v.Raw(), []byte(halfReplacement)) }

// replaceHalves returns a copy of JSON in which each escaped half of a surrogate pair without the other
// is replaced.
func replaceHalves(data []byte) []byte {
	data = bytes.Clone(data)
	for i := 0; i < len(data); {
		next := bytes.IndexByte(data[i:], '\\')
		if next < 0 {
			break
		}
		i += next
		half := surrogate(data[i:])
		switch {
		case half == 0:
			i += len(`\\`)
		case utf16.DecodeRune(half, surrogate(data[min(i+escapeSize, len(data)):])) != '\ufffd':
			i += 2 * escapeSize
		default:
			i += copy(data[i:], halfReplacement)
		}
	}
	return data
}

// surrogate returns the half of a surrogate pair whose escape data begins with, or 0.
func surrogate(data []byte) rune {
	if len(data) < escapeSize || !bytes.HasPrefix(data, []byte(`\u`)) {
		return 0
	}
	half, err := strconv.ParseUint(string(data[len(`\u`):escapeSize]), 16, 16)
	if err != nil || !utf16.IsSurrogate(rune(half)) {
		return 0
	}
	return rune(half)
}
