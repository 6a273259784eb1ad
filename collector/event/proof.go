package event

import "github.com/delegraph/delegraph/collector/strictjson"

// Origin says where a statement about an answer's trustworthiness stood.
type Origin string

// The closed set of origins; also the values of the metric label `origin`.
const (
	OriginStructured Origin = "structured" // a proof_layer object, or a protocol's own list of sources
	OriginText       Origin = "text"       // the text of an answer, such as "**Confidence:** 92%"
	OriginThought    Origin = "thought"    // a model's thought, which judges itself and not the answer
)

// Confidence is one statement of how sure an answer is, as it stood on the wire; nothing is ever filled in.
type Confidence struct {
	Value   float64 // 0..1; meaningful only where Known
	Known   bool    // false where only words or a range were given ("High", "85-90%")
	Low     Ratio   // the lower end of a range; alone for "at least 90%"
	High    Ratio   // the upper end of a range; alone for "below 40%"
	Scope   string  // what the value is about ("timber" in "95% for timber"), or ""
	Label   string  // the words given with it, or a range or a score as written, lower case ("high", "4 out of 5"), or ""
	Topic   string  // the bold label that the value stood behind ("Fire Severity"), or ""
	Overall bool    // said of the whole answer ("Overall Confidence")
	Origin  Origin
}

// Ratio is a part of 1 that the wire may leave out.
type Ratio struct {
	Value float64 // 0..1
	Known bool
}

// Unreadable says why a member of a proof layer could not be read.
type Unreadable string

// The closed set of reasons; also the values of the label `reason` of delegraph_proof_unreadable_total.
const (
	UnreadableType  Unreadable = "type"  // not a number, a string, a list or an object where one is expected
	UnreadableScale Unreadable = "scale" // a number that is neither a ratio nor a percentage, such as 7 or -0.1
	UnreadableWords Unreadable = "words" // text that is neither a figure nor a level
)

// UnreadableReasons lists every reason.
func UnreadableReasons() []Unreadable {
	return []Unreadable{UnreadableType, UnreadableScale, UnreadableWords}
}

// Citation is one source that an answer names.
type Citation struct {
	Source    string // as it stood: "MTBS, Imagery date: 2022-09-15"
	Reference string // a date, a paragraph, a page, or ""
	URI       string // or ""
	Origin    Origin
}

// Statements are the members of a frame that state an answer's confidence and sources beside its text. Those that the frame does not
// have do not exist.
type Statements struct {
	Layer     strictjson.Value // proof_layer
	Grounding strictjson.Value // the groundingMetadata of Google's models
	Citations strictjson.Value // their citationMetadata
}
