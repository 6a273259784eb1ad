package event

// Origin says where a statement about an answer's trustworthiness stood.
type Origin string

// The closed set of origins; also the values of the metric label `origin`.
const (
	OriginStructured Origin = "structured" // a proof_layer object
	OriginText       Origin = "text"       // a line of an answer, such as "**Confidence:** 92%"
	OriginThought    Origin = "thought"    // a model's thought, which judges itself and not the answer
)

// Confidence is one statement of how sure an answer is, as it stood on the wire; nothing is ever filled in.
type Confidence struct {
	Value   float64 // 0..1; meaningful only where Known
	Known   bool    // false where only words were given ("High")
	Scope   string  // what the value is about ("timber" in "95% for timber"), or ""
	Label   string  // the words given with it, lower case ("high"), or ""
	Topic   string  // the bold label that the value stood behind ("Fire Severity"), or ""
	Overall bool    // said of the whole answer ("Overall Confidence")
	Origin  Origin
}

// Citation is one source that an answer names.
type Citation struct {
	Source    string // as it stood: "MTBS, Imagery date: 2022-09-15"
	Reference string // a date, a paragraph, a page, or ""
	URI       string // or ""
	Origin    Origin
}
