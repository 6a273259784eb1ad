package agui

import (
	"bytes"
	"iter"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// questionPlaces finds the questions of internal agents and nodes in LangChain's events, which say in which graph a question is asked. The
// frames that ask it do not.
//
// Source: _emit_interrupt_finish in ag_ui_langgraph/agent.py of ag-ui-langgraph 0.0.47, and astream_events of langgraph 1.
type questionPlaces struct {
	internal wire.Set[uint64] // hashes of the namespaces of the graphs of internal agents, which are those of the tools around them
	named    wire.Set[uint64] // hashes of the namespaces of the graphs of other agents
	placed   wire.Set[string] // IDs of questions that a graph asks: the graphs around it repeat them
	ordinary wire.Set[string] // of these, those that are surely not internal
}

// maxGraphs bounds the graphs around a question. One with more is withheld.
const maxGraphs = 64

// readQuestions reads the place of an event of LangChain, and remembers the questions in it if it is internal.
func (d *decoder) readQuestions(event strictjson.Value) {
	metadata := event.Get("metadata")
	namespace := metadata.Get("langgraph_checkpoint_ns").Text()
	agent := metadata.Get("lc_agent_name")
	// The events of an agent's graph itself have the namespace of the tool around it.
	if at := bytes.LastIndexByte(namespace, '|'); at > 0 && len(agent.Text()) > 0 && !event.Get("name").Is(agent.String()) {
		graphs := &d.questions.named
		if lenient.IsInternal(agent.Text()) {
			graphs = &d.questions.internal
		}
		graphs.Add(wire.Hash(string(namespace[:at])))
	}
	var at place
	hasPlace := false
	for part := range event.Get("data").Get("chunk").Elements() {
		if part.Kind() == strictjson.Array && !hasPlace {
			at, hasPlace = d.placeOf(namesIn(part)), true
		}
		for question := range elementsOf(part.Get("__interrupt__")) {
			d.placeQuestion(d.name(question.Get("id")), at, event)
		}
	}
	if event.Get("event").Is("on_tool_error") {
		names := strings.SplitN(string(namespace), "|", maxGraphs+2)
		at = d.placeOf(names[:len(names)-1])
		for id := range idsIn(event.Get("data").Get("error")) {
			d.placeQuestion(id, at, event)
		}
	}
}

// namesIn returns the namespace of a graph, of which one that is too long is cut.
func namesIn(graph strictjson.Value) []string {
	names := []string{}
	for segment := range graph.Elements() {
		if names = append(names, segment.String()); len(names) > maxGraphs {
			break
		}
	}
	return names
}

// idsIn yields the IDs of the questions with which a tool stops, which the error of the tool has as a text of Python.
func idsIn(failure strictjson.Value) iter.Seq[string] {
	return func(yield func(string) bool) {
		_, rest, isOne := bytes.Cut(failure.Get("message").Text(), []byte(" id='"))
		for isOne {
			var id []byte
			if id, rest, isOne = bytes.Cut(rest, []byte("'")); isOne && !yield(dialect.Name(string(id))) {
				return
			}
			_, rest, isOne = bytes.Cut(rest, []byte(" id='"))
		}
	}
}

// place says in which graph a question is asked.
type place struct {
	isInner    bool // not the run's graph
	isInternal bool
	isNamed    bool // it is the graph of an agent that LangChain's events name
}

// placeOf returns the place that a namespace names.
func (d *decoder) placeOf(graph []string) place {
	namespace := strings.Join(graph, "|")
	return place{isInner: len(graph) > 0, isInternal: d.isInternalGraph(namespace), isNamed: d.questions.named.Contains(wire.Hash(namespace))}
}

// isInternalGraph reports whether the graph with a namespace is that of an internal agent or node, or is within one, or may be. If a node runs
// several graphs, the namespace of the second is that of the first with a number, and it is not within the first.
//
// Source: langgraph/pregel/_loop.py of langgraph 1.
func (d *decoder) isInternalGraph(namespace string) bool {
	end := 0 // of the graph around
	for n := 0; end < len(namespace); n++ {
		segment, rest, _ := strings.Cut(namespace[end:], "|")
		if n == maxGraphs || lenient.IsInternal([]byte(segment)) {
			return true
		}
		end += len(segment)
		if next, _, _ := strings.Cut(rest, "|"); !isNumber(next) && d.questions.internal.MayContain(wire.Hash(namespace[:end])) {
			return true
		}
		end++
	}
	return false
}

// isNumber reports whether a segment of a namespace only counts the graphs of a node.
func isNumber(segment string) bool {
	return segment != "" && strings.Trim(segment, "0123456789") == ""
}

// placeQuestion remembers a question if a graph asks it that is internal, or the run's graph in an internal step. While a call delegates to
// an internal agent, a question may be of that one unless its graph is that of another: of hidden subagents no other event names the graph.
func (d *decoder) placeQuestion(id string, at place, event strictjson.Value) {
	isStep, _ := d.steps.areInternal("")
	isStep = isStep && !at.isInner && !d.questions.placed.Contains(id)
	switch d.questions.placed.Add(id); {
	case at.isInternal || isStep || d.isInternalEvent:
		d.withheld.add(key{entity: entityQuestion, id: id})
	case at.isNamed || !d.mayBeDelegated(strictjson.Value{}):
		d.questions.ordinary.Add(id)
	}
}

// readToolEnd hides the result of a tool within which an internal agent of LangChain worked.
func (d *decoder) readToolEnd(event strictjson.Value) {
	tool := wire.Hash(event.Get("metadata").Get("langgraph_checkpoint_ns").String())
	if !event.Get("event").Is("on_tool_end") || !d.questions.internal.MayContain(tool) {
		return
	}
	anyObject(event.Get("data").Get("output"), func(one strictjson.Value) bool {
		if isResult(one) {
			d.hideAnswer(d.memberOf(one, callIDs))
		}
		return false
	})
}
