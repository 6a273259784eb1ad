package looopy

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// encoding is the encoding of a file's chunks.
type encoding uint8

const (
	unknownEncoding encoding = iota
	plainText
	base64Text
	splitBase64 // base64 whose chunks can only be decoded together
)

func (d *decoder) fileWrite(_ *task, fr frame, b *event.Batch) {
	e := d.addArtifact(event.ArtifactFile, fr, b)
	data := fr.data.Get("data")
	if data.Kind() != strictjson.String {
		return
	}
	piece := event.Piece{Name: e.Name, Media: d.member(fr, "mimeType"), Value: data}
	text := data.Text()
	appendIfEmpty(e, len(text) == 0)
	switch d.encodingOf(e.ID, e.Artifact.Index, fr) {
	case plainText:
		e.Artifact.Bytes = event.Count{N: int64(len(text)), Known: true}
		piece.Kind = event.PieceText
	case base64Text:
		e.Artifact.Bytes = event.Count{N: wire.Base64Length(text), Known: true}
		piece.Kind = event.PieceBytes
		if whole := e.Artifact.Complete && !e.Artifact.Append; !whole && !decodesAlone(text) {
			piece.Kind = event.PieceFragment
			d.encodings.Add(e.ID, splitBase64)
		}
	case splitBase64:
		e.Artifact.Bytes = event.Count{N: wire.Base64Length(text), Known: true}
		piece.Kind = event.PieceFragment
	default:
		return
	}
	e.AddPiece(piece)
}

// encodingOf returns the encoding of a file. In the design document only the first chunk names it.
// Today's servers name it in each chunk's metadata. A file whose first chunk names none is text.
func (d *decoder) encodingOf(id string, index event.Count, fr frame) encoding {
	sent := fr.data.Get("encoding")
	if sent.Kind() <= strictjson.Null {
		sent = fr.metadata.Get("encoding")
	}
	known, isKnown := d.encodings.Get(id)
	isFirst := index.N == 0 && (index.Known || !isKnown)
	switch {
	case sent.Is("base64") && known == splitBase64 && !isFirst:
	case sent.Is("base64"):
		known = base64Text
	case sent.Is("utf-8"), sent.Kind() <= strictjson.Null && isFirst:
		known = plainText
	case sent.Kind() > strictjson.Null:
		known = unknownEncoding
	}
	d.encodings.Add(id, known)
	return known
}

// decodesAlone reports whether a chunk of base64 can be decoded without the others. The servers'
// store concatenates chunks, so they may be cut anywhere.
func decodesAlone(chunk []byte) bool {
	digits, padding := wire.Base64Digits(chunk)
	return (digits+padding)%4 == 0
}

// dataWrite reports a write to a data artifact, which always replaces the whole.
func (d *decoder) dataWrite(_ *task, fr frame, b *event.Batch) {
	e := d.addArtifact(event.ArtifactData, fr, b)
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
	e := d.addArtifact(event.ArtifactDataset, fr, b)
	rows := fr.data.Get("rows")
	if rows.Kind() != strictjson.Array {
		return
	}
	e.Artifact.Bytes.Known = true
	for row := range rows.Elements() {
		e.Artifact.Bytes.N += int64(len(row.Raw()))
	}
	appendIfEmpty(e, rows.Len() == 0)
	piece := event.Piece{Kind: event.PieceRows, Value: rows}
	if schema := fr.data.Get("schema"); schema.Kind() > strictjson.Null {
		piece.Schema = schema
	}
	e.AddPiece(piece)
}

// appendIfEmpty marks an empty write as an append, so that it does not replace the artifact. Today's servers count only chunks
// with content, so the empty write that closes an artifact with one chunk has that chunk's index.
func appendIfEmpty(e *event.Event, empty bool) {
	e.Artifact.Append = e.Artifact.Append || empty
}

func (d *decoder) addArtifact(kind event.ArtifactKind, fr frame, b *event.Batch) *event.Event {
	e := b.Add(event.KindArtifact)
	e.ID, e.Name = d.member(fr, "artifactId"), d.member(fr, "name")
	e.Artifact = event.Artifact{Kind: kind, Index: dialect.Count(fr.data.Get("index"))}
	e.Artifact.Append = e.Artifact.Index.N > 0
	e.Artifact.Complete, _ = fr.data.Get("complete").Bool()
	return e
}
