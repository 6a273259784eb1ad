package adk

import (
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// isCopy reports whether the text or the output of an event repeats the answer of a withheld one. A function repeats its input or says it, a join and a
// parallel worker repeat the outputs of other nodes, and a resumed workflow repeats its own. The output of a model is its own.
//
// Source: google/adk/workflow/_join_node.py and _parallel_worker.py of google-adk 2.13.
func (w *withheld) isCopy(fr *frame, b *event.Batch) bool {
	if w.values.IsEmpty() {
		return false
	}
	hasResult := false
	for part := range fr.partList.Elements() {
		if w.values.IsResponse(b, fr.author.String(), part.Get("text")) {
			return true
		}
		for range results(part) {
			hasResult = true
		}
	}
	isRelated := w.values.IsNamed(fr.node())
	return fr.isNodeOutput() && !hasResult && w.values.MayBeIn(b, fr.output, isRelated) || fr.isOfFunction() && w.values.IsAnswer(b, fr.texts(), isRelated)
}

// isOfFunction reports whether an event is a function's in a workflow of Python's ADK 2. Its author is the workflow, and not the node.
//
// Source: google/adk/workflow/_node_runner.py of google-adk 2.13, _enrich_event.
func (f *frame) isOfFunction() bool {
	return len(f.nodeInfo.Get("path").Text()) > 0 && f.node() != f.author.String() && !f.hasModelData()
}

// results yields the results of calls in a part, each with the ID of its call.
func results(part strictjson.Value) iter.Seq2[strictjson.Value, strictjson.Value] {
	return func(yield func(id, result strictjson.Value) bool) {
		for member, value := range callsIn(part) {
			if wire.IsResult(member.as) && !yield(firstOf(value.Get("id"), part.Get("id")), value) {
				return
			}
		}
	}
}

// node returns the name of the node at which an event was made.
func (f *frame) node() string {
	path := f.nodeInfo.Get("path").String()
	if path == "" {
		return f.author.String()
	}
	name, _, _ := strings.Cut(path[strings.LastIndexAny(path, "./")+1:], "@")
	return name
}

// cutCopies withholds the parts of an event that repeat the answer of a withheld one: results of calls that ran its agent, and values in
// the actions. The rest of the event leaves, so that the call ends.
//
// Source: google/adk/tools/agent_tool.py and workflow/_llm_agent_wrapper.py of google-adk 2.13.
func (w *withheld) cutCopies(fr *frame, b *event.Batch) {
	if w.values.IsEmpty() {
		return
	}
	for part := range fr.partList.Elements() {
		for _, call := range callsIn(part) {
			w.values.CutCall(b, call, w.isEvent)
		}
		for id, result := range results(part) {
			if response := result.Get("response"); w.values.MayBeInResult(b, result.Get("name"), id, response) {
				b.Cut(response)
			}
		}
	}
	w.values.CutActions(b, fr.actionsValue, wire.HashAnswer(b, fr.texts()))
}

// isEvent reports whether an ID is that of a withheld event.
func (w *withheld) isEvent(id string) bool { return w.events.Contains(maphash.String(seed, id)) }

// answers reports whether an event has an answer of its agent, and not what the agent says before it calls another tool.
func (f *frame) answers(b *event.Batch) bool {
	var tools []strictjson.Value
	for _, p := range f.parts {
		if p.kind == partCall {
			tools = append(tools, p.name)
		}
	}
	return !b.Partial && wire.IsAnswer(f.output.Exists() || len(f.texts()) > 0, tools...)
}

// texts returns the texts of an event. What a remote agent sends while its task works is marked as a thought, also its answers.
//
// Source: google/adk/a2a/agent/_remote_a2a_agent.py of google-adk 2.13.
func (f *frame) texts() (texts []strictjson.Value) {
	for _, p := range f.parts {
		if p.kind == partText || p.kind == partThought && f.remote.exists && !f.remote.thoughts.Have(p.text) {
			texts = append(texts, p.text)
		}
	}
	return texts
}

// addAnswers remembers the answer of a withheld event.
func (w *withheld) addAnswers(fr *frame, b *event.Batch) {
	author := fr.author.String()
	w.values.AddToSession()
	w.values.AddPlaces(author, fr.branch, fr.nodeInfo.Get("path"), fr.scope)
	for _, p := range fr.parts {
		switch {
		case p.kind == partCall:
			w.values.AddCall(b, author, p.name, p.body)
		case p.kind == partResponse && p.name.Is(wire.ResponseTool):
			w.values.AddResponse(b, author, p.body)
		}
	}
	if !b.Partial {
		w.values.AddText(b, fr.texts())
	}
	w.values.Add(b, fr.output)
	if fr.answers(b) {
		w.values.AddState(b, fr.actionsValue)
	}
}

// acceptKept accepts the marks of a remote agent's earlier events in its task.
func (w *withheld) acceptKept(fr *frame, b *event.Batch) {
	isContent := func(p part) bool { return p.kind != partCall && p.kind != partResponse }
	if fr.remote.exists {
		w.values.AcceptKept(b, prefilter, slices.ContainsFunc(fr.parts, isContent), fr.customMetadata)
	}
}
