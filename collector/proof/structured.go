package proof

import (
	"bytes"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxDepth bounds the nesting of JSON that stands in a string.
const maxDepth = 128

// Structured reads the proof layer of a tool's response or an event's metadata: its own member proof_layer (or proofLayer, which wins), that of its member result, or that of JSON that stands in result, or is the response, as a string of at most Limits.Text bytes. It reports whether there is one. What has another type than it should is left out.
func Structured(response strictjson.Value, lim Limits) (Findings, bool) {
	if layer := layerOf(response); layer.Exists() {
		return readLayer(layer, lim), true
	}
	result := resultOf(response)
	if layer := layerOf(result); layer.Exists() {
		return readLayer(layer, lim), true
	}
	text := jsonText(result, lim.Text)
	if text == nil {
		return Findings{}, false
	}
	var inner strictjson.Doc
	if inner.Parse(text, maxDepth) != nil {
		return Findings{}, false
	}
	layer := layerOf(inner.Root())
	if !layer.Exists() {
		return Findings{}, false
	}
	return readLayer(layer, lim), true
}

// resultOf is what a tool's response says: its member result, or the response itself where it is a string.
func resultOf(response strictjson.Value) strictjson.Value {
	if response.Kind() == strictjson.String {
		return response
	}
	return response.Get("result")
}

func layerOf(v strictjson.Value) strictjson.Value {
	return member(v, strictjson.Object, "proofLayer", "proof_layer")
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

// jsonText returns the object that a string holds, nil if it holds none, is too long or has no proof layer.
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

func readLayer(layer strictjson.Value, lim Limits) Findings {
	r := reader{room: lim.Findings, origin: event.OriginStructured}
	if value, ok := layer.Get("confidence").Float(); ok && value >= 0 && value <= 1 && r.take() {
		r.Confidences = append(r.Confidences, event.Confidence{Value: value, Known: true, Origin: r.origin})
	}
	for item := range layer.Get("citations").Elements() {
		c := event.Citation{Source: field(item), Reference: field(item.Get("reference")), URI: uri(item.Get("uri"))}
		if item.Kind() == strictjson.Object {
			c.Source = field(item.Get("source"))
		}
		if c != (event.Citation{}) && r.take() {
			r.cite(c)
		}
	}
	if chain := member(layer, strictjson.Array, "reasoningChain", "reasoning_chain"); chain.Exists() {
		r.Steps, r.HasSteps = chain.Len(), true
	}
	return r.Findings
}

// field returns a string without the spaces at its ends, cut at maxString bytes.
func field(v strictjson.Value) string { return strings.TrimRight(cut(readField(v), maxString), " ") }

// uri returns a string whole or not at all.
func uri(v strictjson.Value) string { return whole(readField(v)) }

func readField(v strictjson.Value) string {
	const spare = 4 // for spaces and characters that are taken out
	return strings.Trim(readable([]byte(cut(v.String(), spare*maxString))), " ")
}
