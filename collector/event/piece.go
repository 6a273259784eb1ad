package event

import "github.com/delegraph/delegraph/collector/strictjson"

// PieceKind says how a piece of an artifact is encoded in its frame.
type PieceKind string

// The closed set of piece kinds.
const (
	PieceText     PieceKind = "text"     // of a file: a string with the file's content
	PieceBytes    PieceKind = "bytes"    // of a file: a string of base64, in any alphabet, with or without padding
	PieceFragment PieceKind = "fragment" // of a file: a string of base64 that may be cut anywhere
	PieceURI      PieceKind = "uri"      // of a file: a string with its address
	PieceData     PieceKind = "data"     // any JSON value except null
	PieceRows     PieceKind = "rows"     // of a dataset: an array
	PiecePatch    PieceKind = "patch"    // an array: a JSON Patch (RFC 6902) of the data before
)

// Piece is a part of an artifact in one write. The text of an answer is a KindText instead.
type Piece struct {
	Kind   PieceKind
	Name   string           // of the file, or ""; bounded by the decoder
	Media  string           // media type of the file, or ""; bounded by the decoder
	Value  strictjson.Value // always exists; Kind says what it is
	Schema strictjson.Value // of PieceRows, if the frame has it
}

// MaxPieces bounds the pieces of one write: processing a piece can cost more than its size suggests.
const MaxPieces = 1024
