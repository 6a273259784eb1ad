package event

import "github.com/delegraph/delegraph/collector/strictjson"

// PieceKind says in which form a piece of an artifact stands in its frame.
type PieceKind string

// The closed set of pieces.
const (
	PieceText     PieceKind = "text"     // of a file: a string, which is what the file holds
	PieceBytes    PieceKind = "bytes"    // of a file: a string of base64, in any alphabet, with or without padding
	PieceFragment PieceKind = "fragment" // of a file: a string of base64 that may have been cut anywhere
	PieceURI      PieceKind = "uri"      // of a file: a string that says where it is
	PieceData     PieceKind = "data"     // any JSON value but null
	PieceRows     PieceKind = "rows"     // of a dataset: an array
	PiecePatch    PieceKind = "patch"    // an array: what RFC 6902 changes of the data as it stood
)

// Piece is a part of what one write puts into an artifact. Answers are no pieces: their text is KindText.
type Piece struct {
	Kind   PieceKind
	Name   string           // of the file, where the frame says it; bounded by the decoder
	Media  string           // its media type, likewise
	Value  strictjson.Value // as Kind has it; it always exists
	Schema strictjson.Value // of PieceRows, where the frame says it
}

// MaxPieces bounds the pieces of one write: a frame has few, and each costs its readers more than the wire.
const MaxPieces = 1024
