package a2a

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// addSaid adds the texts of parts.
func (r *contentReader) addSaid(parts strictjson.Value) {
	for v := range parts.Elements() {
		if text := v.Get("text"); text.Exists() {
			r.said = append(r.said, text)
		}
	}
}

// addCopied adds a call or a result.
func (r *contentReader) addCopied(call strictjson.Value, as wire.CallRole) {
	if as == wire.CallRepeated {
		r.results = append(r.results, call)
	} else {
		r.made = append(r.made, call)
	}
}

// author returns the agent that an update names, or "". A snapshot may have texts of several.
func (r *contentReader) author() string {
	if r.isSnapshot {
		return ""
	}
	return r.adk.author.String()
}

// isCopy reports whether a text in an update repeats the answer in a withheld event of an ADK agent.
func (d *decoder) isCopy(content contentReader, b *event.Batch) bool {
	author := content.author()
	return !d.values.IsEmpty() && slices.ContainsFunc(content.said, func(text strictjson.Value) bool { return d.values.IsResponse(b, author, text) })
}

// cutResults withholds the results of calls that repeat the answer of an agent that the call ran. The rest of the update leaves, so that the
// call ends.
//
// Source: google/adk/tools/agent_tool.py and workflow/_llm_agent_wrapper.py of google-adk 2.13.
func (d *decoder) cutResults(content contentReader, b *event.Batch) {
	if d.values.IsEmpty() {
		return
	}
	for _, result := range content.results {
		if response := result.Get("response"); d.values.MayBeInResult(b, result.Get("name"), result.Get("id"), response) {
			b.Cut(response)
		}
	}
}

// addAnswers remembers the answer in a withheld event of an ADK agent.
func (d *decoder) addAnswers(content contentReader, u update, b *event.Batch) {
	isADK := content.adk.isEvent || len(content.made)+len(content.results) > 0
	if !isADK || content.isSnapshot {
		return
	}
	author := content.author()
	d.values.AddPlaces(author, content.adk.branch)
	for _, call := range content.made {
		d.values.AddCall(b, author, call.Get("name"), call.Get("args"))
	}
	for _, result := range content.results {
		if result.Get("name").Is(wire.ResponseTool) {
			d.values.AddResponse(b, author, result.Get("response"))
		}
	}
	if !content.isPartial && u.extent() != extentPiece {
		d.values.AddText(b, content.said)
	}
}
