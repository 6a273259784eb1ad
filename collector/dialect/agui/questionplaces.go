package agui

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// questionPlaces finds the questions of internal agents and nodes in LangChain's events, which say in which graph a question is asked. The
// frames that ask it do not.
//
// Source: _emit_interrupt_finish in ag_ui_langgraph/agent.py of ag-ui-langgraph 0.0.47, and astream_events of langgraph 1.
type questionPlaces struct {
	internal wire.Set[uint64] // hashes of the namespaces of the graphs of internal agents
	placed   wire.Set[string] // IDs of questions that a graph within the run's graph asks: the graphs around it repeat them
}

// maxGraphs bounds the graphs around a question. One with more is withheld.
const maxGraphs = 64

// readQuestions reads the place of an event of LangChain, and remembers the questions in it if it is internal.
func (d *decoder) readQuestions(event strictjson.Value) {
	metadata := event.Get("metadata")
	namespace := metadata.Get("langgraph_checkpoint_ns").Text()
	if at := bytes.LastIndexByte(namespace, '|'); at > 0 && lenient.IsInternal(metadata.Get("lc_agent_name").Text()) {
		d.questions.internal.Add(wire.Hash(string(namespace[:at])))
	}
	var graph strictjson.Value
	for part := range event.Get("data").Get("chunk").Elements() {
		if part.Kind() == strictjson.Array && !graph.Exists() {
			graph = part
		}
		for question := range elementsOf(part.Get("__interrupt__")) {
			d.placeQuestion(d.name(question.Get("id")), graph, isInternalWorkEvent(event))
		}
	}
}

// placeQuestion remembers a question if a graph asks it that is internal, or the run's graph in an internal step.
func (d *decoder) placeQuestion(id string, graph strictjson.Value, isInternal bool) {
	var namespace []byte
	for segment := range graph.Elements() {
		namespace = append(append(namespace, segment.Text()...), '|')
		around := wire.Hash(string(namespace[:len(namespace)-1]))
		if isInternal = isInternal || graph.Len() > maxGraphs || lenient.IsInternal(segment.Text()) || d.questions.internal.MayContain(around); isInternal {
			break
		}
	}
	if _, isStep := d.steps.areInternal(""); len(namespace) == 0 && !d.questions.placed.Contains(id) {
		isInternal = isInternal || isStep
	}
	if d.questions.placed.Add(id); isInternal {
		d.withheld.add(key{entity: entityQuestion, id: id})
	}
}
