package proof

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Annotate adds the confidences, citations and reasoning chains of a batch's answers to it. It reads the responses of tools, the complete
// texts of agents, and what the frame states beside them. It skips thoughts, which are not answers, and deltas, which can cut a
// statement in two.
func Annotate(b *event.Batch, lim Limits) {
	var own Findings
	if !b.Partial && b.Agent != "" && b.Statements != (event.Statements{}) {
		own = ofFrame(b.Statements, lim)
		own.addTo(b, b.Agent, "")
	}
	for i := range len(b.Events) {
		switch e := b.Events[i]; {
		case e.Kind == event.KindToolEnded:
			found := ofResponse(e.Payload(), lim)
			found.addTo(b, e.Name, e.CallID)
		case e.Kind == event.KindText && !b.Partial:
			found := Text(e.Text(), lim)
			found.yieldTo(own)
			found.addTo(b, b.Agent, "")
		}
	}
}

// yieldTo drops the kinds of findings that a structured statement of the same answer has. An empty statement drops nothing.
func (f *Findings) yieldTo(structured Findings) {
	if len(structured.Confidences) > 0 {
		f.Confidences = nil
	}
	if len(structured.Citations) > 0 {
		f.Citations = nil
	}
	if structured.HasSteps {
		f.HasSteps = false
	}
}

// ofResponse reads a tool's response: its proof layer, and from its texts what the layer does not state.
func ofResponse(response strictjson.Value, lim Limits) Findings {
	found, _ := Structured(response, lim)
	if len(found.Confidences) > 0 && len(found.Citations) > 0 {
		return found
	}
	said := found
	for body := range bodies(response) {
		if body.Kind() != strictjson.String || !mentions(body.Raw()) && !bytes.Contains(body.Raw(), []byte(`\u`)) {
			continue
		}
		lim.Findings = max(0, lim.Findings-len(found.Confidences)-len(found.Citations))
		in := Text(body.Text(), lim)
		in.yieldTo(said)
		found.Confidences, found.Citations = append(found.Confidences, in.Confidences...), append(found.Citations, in.Citations...)
		found.Unreadable, found.Dropped = append(found.Unreadable, in.Unreadable...), found.Dropped+in.Dropped
		if in.HasSteps {
			found.Steps, found.HasSteps = in.Steps, true
		}
	}
	return found
}

// ofFrame reads the proof layer and the links that a frame has beside its events.
func ofFrame(s event.Statements, lim Limits) Findings {
	r := reader{room: lim.Findings, origin: event.OriginStructured}
	var inner strictjson.Doc
	if layer := asObject(s.Layer, &inner); layer.Exists() {
		r.layer(layer)
	} else if s.Layer.Kind() > strictjson.Null {
		r.Unreadable = []event.Unreadable{event.UnreadableType}
	}
	for chunk := range s.Grounding.First("groundingChunks", "grounding_chunks").Elements() {
		r.link(chunk.First("web", "retrievedContext", "retrieved_context", "maps"))
	}
	for source := range s.Citations.First("citations", "citationSources", "citation_sources").Elements() {
		r.link(source)
	}
	return r.Findings
}

// link adds a source with a title and an address, unless it is there already.
func (r *reader) link(v strictjson.Value) {
	c := event.Citation{Source: field(v.Get("title")), URI: uri(v.Get("uri")), Origin: r.origin}
	if c.Source+c.URI != "" && !slices.Contains(r.Citations, c) {
		r.addCitation(c)
	}
}

func (f *Findings) addTo(b *event.Batch, who, call string) {
	for _, c := range f.Confidences {
		e := b.Add(event.KindConfidence)
		e.Name, e.CallID, e.Confidence = who, call, c
	}
	for _, c := range f.Citations {
		e := b.Add(event.KindCitation)
		e.Name, e.CallID, e.Citation = who, call, c
	}
	if len(f.Confidences)+len(f.Citations) > 0 {
		b.Events[len(b.Events)-1].More = f.Dropped
	}
	if f.HasSteps {
		e := b.Add(event.KindReasoning)
		e.Name, e.CallID, e.Steps = who, call, f.Steps
	}
	b.Unreadable = append(b.Unreadable, f.Unreadable...)
}
