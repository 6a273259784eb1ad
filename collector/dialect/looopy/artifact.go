package looopy

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// encoding is how a file's chunks are written.
type encoding uint8

const (
	unknownEncoding encoding = iota
	plainText
	base64Text
	cutText // base64 of which a chunk does not stand by itself, nor do those after it
)

func (d *decoder) fileWrite(_ *task, fr frame, b *event.Batch) {
	e := d.write(event.ArtifactFile, fr, b)
	data := fr.data.Get("data")
	if data.Kind() != strictjson.String {
		return
	}
	piece := event.Piece{Name: e.Name, Media: d.member(fr, "mimeType"), Value: data}
	text := data.Text()
	closes(e, len(text) == 0)
	switch d.encodingOf(e.ID, e.Artifact.Index, fr) {
	case plainText:
		e.Artifact.Bytes = event.Count{N: int64(len(text)), Known: true}
		piece.Kind = event.PieceText
	case base64Text:
		e.Artifact.Bytes = event.Count{N: wire.Base64Length(text), Known: true}
		piece.Kind = event.PieceBytes
		if whole := e.Artifact.Complete && !e.Artifact.Append; !whole && !standsAlone(text) {
			piece.Kind = event.PieceFragment
			d.encodings.Add(e.ID, cutText)
		}
	case cutText:
		e.Artifact.Bytes = event.Count{N: wire.Base64Length(text), Known: true}
		piece.Kind = event.PieceFragment
	default:
		return
	}
	e.AddPiece(piece)
}

// encodingOf is the encoding of a file, which the design document has in the first chunk only, today's servers in the metadata of
// each. A file that begins without one is text.
func (d *decoder) encodingOf(id string, index event.Count, fr frame) encoding {
	said := fr.data.Get("encoding")
	if !said.Exists() {
		said = fr.metadata.Get("encoding")
	}
	known, _ := d.encodings.Get(id)
	switch {
	case said.Is("base64") && (known != cutText || index.N == 0):
		known = base64Text
	case said.Is("base64"):
	case said.Is("utf-8"), index.N == 0:
		known = plainText
	}
	d.encodings.Add(id, known)
	return known
}

// standsAlone says whether a chunk of base64 can be read without the others. The store of the servers puts chunks together as they
// are, so that they may have been cut anywhere.
func standsAlone(chunk []byte) bool {
	digits, padding := wire.Base64Digits(chunk)
	return (digits+padding)%4 == 0
}

// dataWrite writes the whole of it, each time.
func (d *decoder) dataWrite(_ *task, fr frame, b *event.Batch) {
	e := d.write(event.ArtifactData, fr, b)
	e.Artifact.Complete = true
	data := fr.data.Get("data")
	if data.Exists() {
		e.Artifact.Bytes = event.Count{N: int64(len(data.Raw())), Known: true}
	}
	if data.Kind() > strictjson.Null {
		e.AddPiece(event.Piece{Kind: event.PieceData, Value: data})
	}
}

func (d *decoder) datasetWrite(_ *task, fr frame, b *event.Batch) {
	e := d.write(event.ArtifactDataset, fr, b)
	rows := fr.data.Get("rows")
	if rows.Kind() != strictjson.Array {
		return
	}
	e.Artifact.Bytes.Known = true
	for row := range rows.Elements() {
		e.Artifact.Bytes.N += int64(len(row.Raw()))
	}
	closes(e, rows.Len() == 0)
	piece := event.Piece{Kind: event.PieceRows, Value: rows}
	if schema := fr.data.Get("schema"); schema.Kind() > strictjson.Null {
		piece.Schema = schema
	}
	e.AddPiece(piece)
}

// closes has a write that is empty replace nothing: today's servers count only chunks that hold something, so that what closes an
// artifact of one chunk has the number of that chunk.
func closes(e *event.Event, empty bool) {
	e.Artifact.Append = e.Artifact.Append || empty
}

func (d *decoder) write(kind event.ArtifactKind, fr frame, b *event.Batch) *event.Event {
	e := b.Add(event.KindArtifact)
	e.ID, e.Name = d.member(fr, "artifactId"), d.member(fr, "name")
	e.Artifact = event.Artifact{Kind: kind, Index: dialect.Count(fr.data.Get("index"))}
	e.Artifact.Append = e.Artifact.Index.N > 0
	e.Artifact.Complete, _ = fr.data.Get("complete").Bool()
	return e
}
