package proof

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Annotate adds events for the confidences, citations and reasoning chains that a batch's answers
// state. It reads the responses of tools, the complete texts of agents, and the frame's own
// statements. It skips thoughts, which are not answers, and deltas, which can cut a statement in two.
func Annotate(b *event.Batch, lim Limits) {
	var own Findings
	if !b.Partial && b.Agent != "" && b.Statements != (event.Statements{}) {
		own = readFrame(b.Statements, lim)
		own.addTo(b, b.Agent, "")
	}
	for i := range len(b.Events) {
		by := b.SpeakerAt(i)
		switch e := b.Events[i]; {
		case e.Kind == event.KindToolEnded:
			found := readResponse(e.Payload(), lim)
			found.addAs(by, b, e.Name, e.CallID)
		case e.Kind == event.KindText && !b.Partial:
			ofText := lim
			if e.Truncated {
				ofText.MaxText = min(lim.MaxText, len(e.Text())-1) // its first line is not complete
			}
			found := Text(e.Text(), ofText)
			found.dropDuplicates(own)
			found.addAs(by, b, by.Agent, "")
		}
	}
	b.EndTurns()
}

// addAs adds events of a speaker. It begins a turn for them if the last turn of the frame is another speaker's.
func (f *Findings) addAs(by event.Speaker, b *event.Batch, name, call string) {
	if len(f.Confidences)+len(f.Citations) == 0 && !f.HasSteps || b.SpeakerAt(len(b.Events)) == by || b.BeginTurn(by) {
		f.addTo(b, name, call)
	}
}

// dropDuplicates drops the kinds of findings that structured has, too: a structured statement takes
// precedence over the text of the same answer.
func (f *Findings) dropDuplicates(structured Findings) {
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

// readResponse reads the proof layer of a tool's response. From the response's texts, it reads the kinds
// of findings that the layer does not have.
func readResponse(response strictjson.Value, lim Limits) Findings {
	found, _ := Structured(response, lim)
	if len(found.Confidences) > 0 && len(found.Citations) > 0 {
		return found
	}
	structured := found
	for body := range bodies(response) {
		if body.Kind() != strictjson.String || !mentions(body.Raw()) && !(body.Escaped() && bytes.Contains(body.Raw(), []byte(`\u`))) {
			continue
		}
		rest := Limits{MaxText: lim.MaxText, MaxFindings: max(0, lim.MaxFindings-len(found.Confidences)-len(found.Citations))}
		inText := Text(body.Text(), rest)
		inText.dropDuplicates(structured)
		found.Confidences, found.Citations = append(found.Confidences, inText.Confidences...), append(found.Citations, inText.Citations...)
		found.Unreadable, found.Dropped = append(found.Unreadable, inText.Unreadable...), found.Dropped+inText.Dropped
		if inText.HasSteps {
			found.Steps, found.HasSteps = inText.Steps, true
		}
	}
	return found
}

// readFrame reads a frame's proof layer, and its links to sources.
func readFrame(s event.Statements, lim Limits) Findings {
	r := reader{remaining: lim.MaxFindings, origin: event.OriginStructured}
	var inner strictjson.Doc
	if layer := asObject(s.Layer, &inner); layer.Exists() {
		r.readLayer(layer)
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

// link adds a source with a title or an address, unless it is a duplicate.
func (r *reader) link(v strictjson.Value) {
	c := event.Citation{Source: field(v.Get("title")), URI: uri(v.Get("uri")), Origin: r.origin}
	if c.Source+c.URI != "" && !slices.Contains(r.Citations, c) {
		r.addCitation(c)
	}
}

func (f *Findings) addTo(b *event.Batch, name, call string) {
	for _, c := range f.Confidences {
		e := b.Add(event.KindConfidence)
		e.Name, e.CallID, e.Confidence = name, call, c
	}
	for _, c := range f.Citations {
		e := b.Add(event.KindCitation)
		e.Name, e.CallID, e.Citation = name, call, c
	}
	if len(f.Confidences)+len(f.Citations) > 0 {
		b.Events[len(b.Events)-1].Omitted = f.Dropped
	}
	if f.HasSteps {
		e := b.Add(event.KindReasoning)
		e.Name, e.CallID, e.Steps = name, call, f.Steps
	}
	b.Unreadable = append(b.Unreadable, f.Unreadable...)
}
