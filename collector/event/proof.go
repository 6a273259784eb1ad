package event

import "github.com/delegraph/delegraph/collector/strictjson"

// Origin says where a statement about an answer's confidence or sources was found.
type Origin string

// The closed set of origins. They are also the values of the metric label `origin`.
const (
	OriginStructured Origin = "structured" // a proof_layer object, or a protocol's own list of sources
	OriginText       Origin = "text"       // the text of an answer, such as "**Confidence:** 92%"
	OriginThought    Origin = "thought"    // a model's thought about itself, not about the answer
)

// Confidence is one statement of how sure an answer is, as on the wire. No field is inferred.
type Confidence struct {
	Value   float64 // 0..1; valid only if Known
	Known   bool    // false if only words or a range were given ("High", "85-90%")
	Low     Ratio   // the lower end of a range; without High, "at least 90%"
	High    Ratio   // the upper end of a range; without Low, "below 40%"
	Scope   string  // what the value is about ("timber" in "95% for timber"), or ""
	Label   string  // words beside the value, or a range or score as written, lower case ("high", "4 out of 5"), or ""
	Topic   string  // the bold label before the value ("Fire Severity"), or ""
	Overall bool    // the statement is about the whole answer ("Overall Confidence")
	Origin  Origin
}

// Ratio is a fraction of 1 that may be missing on the wire.
type Ratio struct {
	Value float64 // 0..1
	Known bool
}

// Unreadable says why a member of a proof layer could not be read.
type Unreadable string

// The closed set of reasons. They are also the values of the label `reason` of
// delegraph_proof_unreadable_total.
const (
	UnreadableType  Unreadable = "type"  // not a number, a string, a list or an object where one is expected
	UnreadableScale Unreadable = "scale" // a number that is neither a ratio nor a percentage, such as 7 or -0.1
	UnreadableWords Unreadable = "words" // text that is neither a number nor a level
)

// UnreadableReasons returns every reason.
func UnreadableReasons() []Unreadable {
	return []Unreadable{UnreadableType, UnreadableScale, UnreadableWords}
}

// Citation is one source that an answer names.
type Citation struct {
	Source    string // as written: "MTBS, Imagery date: 2022-09-15"
	Reference string // a date, a paragraph, a page, or ""
	URI       string // or ""
	Origin    Origin
}

// Statements are the members of a frame that state an answer's confidence and sources outside its
// text. A member that the frame does not have does not exist here either.
type Statements struct {
	Layer     strictjson.Value // proof_layer
	Grounding strictjson.Value // groundingMetadata of Google's models
	Citations strictjson.Value // citationMetadata of Google's models
}
