package proof

import (
	"bytes"
	"iter"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxDepth bounds the nesting of JSON within a string.
const maxDepth = 128

// Structured reads the proof layer of a tool's response and reports whether there is one. A proof layer
// is the member proofLayer or, without that, proof_layer. It is a member of the response itself, or of
// its result, structuredContent, output, text or content[].text. Each of these may be an object or a
// string of JSON of at most Limits.MaxText bytes. If there is no proof layer, but a member with its name,
// Structured adds one reason to Findings.Unreadable.
func Structured(response strictjson.Value, lim Limits) (Findings, bool) {
	r := reader{remaining: lim.MaxFindings, origin: event.OriginStructured}
	var text, inner strictjson.Doc
	if layer := layerOf(response, &inner); layer.Exists() {
		r.readLayer(layer)
		return r.Findings, true
	}
	isNamed := namesLayer(response)
	for body := range bodies(response) {
		if encoded := jsonText(body, lim.MaxText); encoded != nil && text.Parse(encoded, maxDepth) == nil {
			body = text.Root()
		}
		if layer := layerOf(body, &inner); layer.Exists() {
			r.readLayer(layer)
			return r.Findings, true
		}
		isNamed = isNamed || namesLayer(body)
	}
	if isNamed {
		r.refuse(event.UnreadableType)
	}
	return r.Findings, false
}

// Confidence reads a value that states a confidence, as the member of a proof layer: a number, a text, or an object that maps topics to
// them. It also returns why it could not read values.
func Confidence(v strictjson.Value) (stated []event.Confidence, unreadable []event.Unreadable) {
	r := reader{remaining: maxElements, origin: event.OriginStructured}
	r.confidence(v)
	return r.Confidences, r.Unreadable
}

// bodies yields the parts of a tool's response that may contain an answer: the response itself, if it
// is a string, or its members.
func bodies(response strictjson.Value) iter.Seq[strictjson.Value] {
	return func(yield func(strictjson.Value) bool) {
		if response.Kind() == strictjson.String {
			yield(response)
			return
		}
		for _, name := range [...]string{"result", "structuredContent", "output", "text"} {
			if body := response.Get(name); body.Kind() > strictjson.Null && !yield(body) {
				return
			}
		}
		n := 0
		for part := range response.Get("content").Elements() {
			if n++; n > maxElements {
				return
			}
			if text := part.Get("text"); text.Kind() == strictjson.String && !yield(text) {
				return
			}
		}
	}
}

// layerOf returns a value's proof layer: an object, or the object that a string of JSON contains,
// which is parsed into the document.
func layerOf(v strictjson.Value, inner *strictjson.Doc) strictjson.Value {
	for _, name := range [...]string{"proofLayer", "proof_layer"} {
		if layer := asObject(v.Get(name), inner); layer.Exists() {
			return layer
		}
	}
	return strictjson.Value{}
}

// namesLayer reports whether a value has a member with the name of a proof layer.
func namesLayer(v strictjson.Value) bool { return v.First("proofLayer", "proof_layer").Exists() }

// asObject returns v if it is an object, or the object in v if it is a string of JSON. Otherwise it
// returns no value.
func asObject(v strictjson.Value, inner *strictjson.Doc) strictjson.Value {
	if v.Kind() == strictjson.String && inner.Parse(v.Text(), maxDepth) == nil {
		v = inner.Root()
	}
	if v.Kind() != strictjson.Object {
		return strictjson.Value{}
	}
	return v
}

// member returns the first of the named members that has this kind.
func member(v strictjson.Value, kind strictjson.Kind, names ...string) strictjson.Value {
	for _, name := range names {
		if m := v.Get(name); m.Kind() == kind {
			return m
		}
	}
	return strictjson.Value{}
}

// jsonText returns the JSON object that a string contains, or nil if it contains none, is too long or
// cannot have a proof layer.
func jsonText(v strictjson.Value, limit int) []byte {
	const quotes, longestEscape = 2, 6
	if sent := v.Raw(); v.Kind() != strictjson.String || len(sent) < quotes || sent[1] != '{' || len(sent)-quotes > longestEscape*limit {
		return nil
	}
	text := v.Text()
	if len(text) > limit || !bytes.Contains(text, []byte("proof")) {
		return nil
	}
	return text
}

// readLayer adds the statements of a proof layer.
func (r *reader) readLayer(layer strictjson.Value) {
	r.confidence(layer.Get("confidence"))
	list := layer.Get("citations")
	if k := list.Kind(); k > strictjson.Null && k != strictjson.Array {
		r.refuse(event.UnreadableType)
	}
	for item := range list.Elements() {
		c := event.Citation{Source: field(item), Reference: field(item.Get("reference")), URI: uri(item.Get("uri")), Origin: event.OriginStructured}
		if item.Kind() == strictjson.Object {
			c.Source = field(item.Get("source"))
		}
		if c.Source+c.Reference+c.URI == "" {
			r.refuse(event.UnreadableType)
		} else {
			r.addCitation(c)
		}
	}
	chain := member(layer, strictjson.Array, "reasoningChain", "reasoning_chain")
	if chain.Exists() {
		r.Steps, r.HasSteps = chain.Len(), true
	} else if layer.First("reasoningChain", "reasoning_chain").Kind() > strictjson.Null {
		r.refuse(event.UnreadableType)
	}
}

// confidence adds what a structured value states.
func (r *reader) confidence(v strictjson.Value) {
	for _, c := range readConfidence(v, r.refuse) {
		c.Origin = event.OriginStructured
		r.addConfidence(c)
	}
}

// refuse counts a value that could not be read.
func (r *reader) refuse(why event.Unreadable) {
	if len(r.Unreadable) < maxElements {
		r.Unreadable = append(r.Unreadable, why)
	}
}

// field returns a string without the spaces at its ends, cut at maxString bytes.
func field(v strictjson.Value) string {
	return strings.TrimRight(truncate(readField(v), maxString), " ")
}

// uri returns a string, or "" if it is longer than maxString.
func uri(v strictjson.Value) string { return ifShort(readField(v)) }

func readField(v strictjson.Value) string {
	const spare = 4 // for spaces and characters that are removed
	return strings.Trim(readable([]byte(truncate(v.String(), spare*maxString))), " ")
}
