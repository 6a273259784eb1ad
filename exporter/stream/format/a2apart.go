package format

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// a2aFile is a file in version 0.3.
type a2aFile struct {
	Name      string          `json:"name,omitempty"`
	MediaType string          `json:"mimeType,omitempty"`
	Bytes     *string         `json:"bytes,omitempty"`
	URI       json.RawMessage `json:"uri,omitempty"`
}

// parts returns the pieces of an artifact as parts. If the frame does not have all of them, one more part
// describes the artifact.
func (w a2aVersion) parts(e *event.Event) []a2aPart {
	pieces := e.Pieces()
	all := make([]a2aPart, 0, len(pieces)+1)
	for i := range pieces {
		all = append(all, w.part(&pieces[i]))
	}
	if len(all) == 0 || e.Omitted > 0 {
		all = append(all, a2aPart{Data: newArtifact(e, nil)})
	}
	return all
}

// part returns a piece of an artifact. The content of a text file becomes bytes. The bytes of an A2A part are complete base64
// in the standard alphabet, so they are encoded again. A piece without an A2A form, such as a fragment of base64, becomes data, as in the
// normalized format.
func (w a2aVersion) part(p *event.Piece) a2aPart {
	switch p.Kind {
	case event.PieceText:
		return w.file(p, p.Value.AppendText(nil))
	case event.PieceBytes:
		if content, ok := decodeBase64(p.Value.Text()); ok {
			return w.file(p, content)
		}
	case event.PieceURI:
		if len(p.Value.Text()) > 0 {
			return a2aPart{URL: raw(p.Value), Filename: p.Name, MediaType: p.Media}
		}
	case event.PieceData:
		return w.data(p)
	case event.PieceRows:
		return a2aPart{Data: dataset{raw(p.Value), raw(p.Schema)}}
	}
	return a2aPart{Data: pieceOf(p)}
}

// dataset is a batch of rows.
type dataset struct {
	Rows   json.RawMessage `json:"rows"`
	Schema json.RawMessage `json:"schema,omitempty"`
}

// file returns a part with bytes. In version 0.3 a file without bytes is invalid, so it becomes an
// empty text.
func (w a2aVersion) file(p *event.Piece, content []byte) a2aPart {
	if w.v03 && len(content) == 0 {
		return textPart("")
	}
	encoded := base64.StdEncoding.EncodeToString(content)
	return a2aPart{Raw: &encoded, Filename: p.Name, MediaType: p.Media}
}

// data returns a part with any value. Version 0.3 allows only objects.
func (w a2aVersion) data(p *event.Piece) a2aPart {
	if w.v03 && p.Value.Kind() != strictjson.Object {
		return a2aPart{Data: asStruct(p.Value), Metadata: &partMetadata{Wrapped: true}}
	}
	return a2aPart{Data: raw(p.Value), MediaType: p.Media}
}

// decodeBase64 decodes base64 of either alphabet, with or without padding and blanks.
func decodeBase64(text []byte) (content []byte, ok bool) {
	digits := make([]byte, 0, len(text))
	for _, c := range text {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '-':
			c = '+'
		case '_':
			c = '/'
		}
		digits = append(digits, c)
	}
	digits = bytes.TrimRight(digits, "=")
	content = make([]byte, base64.RawStdEncoding.DecodedLen(len(digits)))
	n, err := base64.RawStdEncoding.Decode(content, digits)
	return content[:n], err == nil
}
