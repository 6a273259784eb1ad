package langgraph

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// questionLists are the members that list the questions of a task, a state or an update.
var questionLists = []string{"interrupts", interruptKey}

// asker is the graph and the task that ask the questions of a frame. The task is "" if the frame does not name it.
type asker struct {
	graph         []byte
	task          string
	mayBeInternal bool // what the graph sends may be of internal work
	mayHaveCalled bool // any task of the graph may have called such work
	around        *aroundWork
}

func (d *decoder) newAsker(graph []byte) asker {
	return asker{
		graph: graph, mayBeInternal: d.mayBeOf(d.working, graph), mayHaveCalled: d.mayBeAround(calledPrefix+string(graph), anyWork), around: d.aroundWork(anyWork),
	}
}

// withholdQuestions reports whether v contains a question that is or may be of an internal task or graph. It records those
// that are, because other frames repeat them without their place. isOfInternal says that all of v is internal.
func (d *decoder) withholdQuestions(v strictjson.Value, by asker, isOfInternal bool, depth int) (found findings) {
	if depth > maxScan {
		return found // examine withholds the frame
	}
	isOfInternal = isOfInternal || d.isInternalTask(v)
	if lenient.HasMember(v, questionLists) && v.Get("name").Exists() {
		by.task = d.name(v.Get("id"))
	}
	for name, member := range v.Members() {
		if lenient.MatchesAny(name.Text(), questionLists) {
			for _, question := range questionsIn(member) {
				if isOfInternal || d.isGraphOfWithheldCall(namespaceOf(question), "") {
					d.withholdQuestion(question)
					found.internal = true
				}
				found.doubtful = found.doubtful || d.mayAskWithin(question, &by)
			}
			continue
		}
		found.add(d.withholdQuestions(member, by, isOfInternal, depth+1))
	}
	for element := range v.Elements() {
		found.add(d.withholdQuestions(element, by, isOfInternal, depth+1))
	}
	return found
}

// questionsIn returns the questions of a list, or a single one.
func questionsIn(list strictjson.Value) []strictjson.Value {
	if list.Kind() == strictjson.Object {
		return []strictjson.Value{list}
	}
	return elementsOf(list)
}

// cutLoadedQuestions cuts the questions of an earlier run from the saved state with which a run continues, unless they have left. Only frames of
// the earlier run tell which of them are internal.
//
// Source: langgraph/pregel/_loop.py, _prepare_tasks_and_emit_checkpoint; langgraph/src/pregel/debug.ts, mapDebugCheckpoint.
func (d *decoder) cutLoadedQuestions(graph []byte, mode string, v strictjson.Value) {
	state := cmp.Or(v.Get("payload"), v)
	if !isCheckpoint(mode, v) || d.beganBefore() || !d.withheldCalls.continues || !d.scopes[string(graph)].isLoaded(d.checkpointID(state)) {
		return
	}
	for task := range state.Get("tasks").Elements() {
		for _, question := range questionsIn(task.Get("interrupts")) {
			if id := questionID(question); !d.reported.isEarlier(seenInterrupt+d.name(id), d.run) && !mayName(&d.withheld, id) {
				d.cutCall(question)
			}
		}
	}
}

// isInternalTask reports whether a task with a list of questions is internal, or may work within a withheld call.
func (d *decoder) isInternalTask(v strictjson.Value) bool {
	id := v.Get("id")
	switch {
	case !lenient.HasMember(v, questionLists):
		return false
	case hasInternalName(v), mayName(&d.internalWork, id):
		return true
	}
	return v.Get("name").Is(toolNode) && len(id.Text()) > 0 && d.isTaskOfWithheldCall(taskPlace{segment: []byte(toolNode + ":" + id.String()), outerUnknown: true}, "")
}

// questionNames are the members with which a question, or an object within it, says that it is internal. A schema may name any type.
//
// Source: langgraph/types.py, Interrupt (response_schema); langchain/agents/middleware/human_in_the_loop.py, ReviewConfig (args_schema).
var (
	questionNames = event.Table{Discriminators: customNames.Discriminators, NameMembers: customNames.NameMembers}
	schemaMembers = []string{"schema", "args_schema", "response_schema"}
)

// printedInternal matches a member of a printed question, or an attribute of a printed object, that says that it is internal. It is for texts
// after lenient.Text.
var printedInternal = regexp.MustCompile(`\b(type|kind|event)(['"]:|=)['"]internal`)

// printsInternalQuestion reports whether the exception with which a question leaves a tool contains a question that says that it is internal.
func printsInternalQuestion(exception strictjson.Value) bool {
	if !isInterrupt(exception) {
		return false
	}
	return printedInternal.Match(lenient.Text(exception.Get("message").Text())) || printedInternal.Match(lenient.Text(exception.Text()))
}

// namespaceOf returns the namespace of the graph that asks a question, or none. Only servers before LangGraph 0.6 send it.
//
// Source: langgraph/types.py, Interrupt.ns.
func namespaceOf(question strictjson.Value) []byte {
	var segments [][]byte
	for segment := range question.Get("ns").Elements() {
		segments = append(segments, segment.Text())
	}
	return bytes.Join(segments, []byte("|"))
}

// withholdQuestion records a question by its ID or, without one, by its content.
func (d *decoder) withholdQuestion(v strictjson.Value) {
	if id := questionID(v); len(id.Text()) == 0 {
		d.withholdContent(v)
	} else {
		d.withholdID(id, true)
	}
}

func questionID(v strictjson.Value) strictjson.Value { return v.First("id", "interrupt_id") }

// mayAskWithin reports whether a question may be of internal work. A task repeats the question of what works within it. Without a task,
// only its ID places it.
func (d *decoder) mayAskWithin(question strictjson.Value, by *asker) bool {
	id := d.name(questionID(question))
	if d.placed.Contains(id) || by.task == "" && d.asksAboutShown(question, by.graph) {
		return false
	}
	isWithin := by.mayBeInternal
	if by.task != "" {
		isWithin = by.mayHaveCalled || by.around.mayBe(by.task)
	}
	switch {
	case id == "":
	case isWithin:
		d.doubted.Add(id)
	case len(by.graph) > 0: // the graphs around it repeat the question
		d.placed.Add(id)
	}
	return isWithin || d.doubted.Contains(id)
}

// approvalMembers are the members of a question of LangChain's middleware. It asks about calls in a model's response before any tool runs.
//
// Source: langchain/agents/middleware/human_in_the_loop.py, HITLRequest.
var approvalMembers = []string{"action_requests", "review_configs"}

// asksAboutShown reports whether a question asks about open calls that left, with their arguments, while no internal work but withheld calls
// is open. A response may have such calls beside the withheld ones.
func (d *decoder) asksAboutShown(question strictjson.Value, graph []byte) bool {
	value := question.Get("value")
	for name := range value.Members() {
		if !slices.ContainsFunc(approvalMembers, name.Is) {
			return false
		}
	}
	for _, w := range d.working {
		if w.kind < workOfCall {
			return false
		}
	}
	asked := elementsOf(value.Get("action_requests"))
	used := make(map[*call]bool)
	for _, request := range asked {
		args := wire.ExactHash(request.Get("args"))
		i := slices.IndexFunc(d.calls, func(c *call) bool { return !used[c] && d.isShownCallIn(c, request, args, graph) })
		if i < 0 {
			return false
		}
		used[d.calls[i]] = true
	}
	return len(asked) > 0 && len(d.working) < wire.MaxSet
}

// isShownCallIn reports whether an object has the tool and the arguments of an open call that left, in a graph or within it. args is the hash of
// the object's arguments.
func (d *decoder) isShownCallIn(c *call, v strictjson.Value, args uint64, graph []byte) bool {
	isOpen := toolOf(v).Is(c.tool) && !c.abandoned && !c.earlier && isWithinGraph(c.scope.namespace, string(graph))
	isShown := isOpen && d.shown.containsText([]byte(c.id)) && !d.withheld.MayContain(c.id)
	return isShown && c.args == args
}
