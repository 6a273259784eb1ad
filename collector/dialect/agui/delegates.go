package agui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// delegate describes a function with which an agent makes another agent work within the call.
type delegate struct {
	argument string   // the argument with the other agent's name
	endsLate bool     // the call's arguments end only after the other agent's work
	refusals []string // prefixes of results that say that no agent worked; NAME stands for the other agent's name
}

// delegates maps names of functions to their descriptions: those of Agno's teams and of LangChain's
// deep agents.
//
// Source: agno/team/_default_tools.py and _task_tools.py of agno 2 and 3, deepagents/middleware/subagents.py of
// deepagents 0.7 and of 1.14 for JavaScript, langgraph/prebuilt/tool_node.py of langgraph-prebuilt
// 1.1.
var delegates = map[string]delegate{
	"delegate_task_to_member": {"member_id", true, []string{"Member with ID NAME not found in the team"}},
	"execute_task":            {"member_id", true, []string{"Member with ID NAME not found", "Task with ID '", "Task ["}},
	"task": {"subagent_type", false, []string{
		"We cannot invoke subagent NAME because it does not exist",
		"Error: invoked agent of type NAME, the only allowed types are",
		"Error: Error: invoked agent of type NAME, the only allowed types are",
		"You are a subagent and cannot delegate to another subagent.",
		"Error invoking tool 'task' with kwargs", // the arguments do not fit
		"Error: task is not a valid tool",
	}},
}

// learnTargets reads from the calls in LangChain's event, or in the messages of a list or state, which agents open calls make work: LangGraph's adapter
// does not send arguments that a model states together with the name of the function.
//
// Source: _handle_single_event in ag_ui_langgraph/agent.py of ag-ui-langgraph 0.0.47.
func (d *decoder) learnTargets(v strictjson.Value) {
	if len(d.calls) == 0 {
		return
	}
	for call := range callsIn(v.First("rawEvent", "event").Get("data").Get("output")) {
		d.learnTarget(call)
	}
	for _, messages := range [...]strictjson.Value{v.Get("messages"), v.Get("snapshot").Get("messages")} {
		for message := range messages.Elements() {
			for call := range callsIn(message) {
				d.learnTarget(call)
			}
		}
	}
}

// learnTarget reads from a call which agent it makes work, if its frames do not say so.
func (d *decoder) learnTarget(listed strictjson.Value) {
	open := d.calls.find(d.memberOf(listed, ownIDs), "")
	tool := cmp.Or(d.name(listed.Get("function").Get("name")), d.name(listed.Get("name")))
	if open == nil || open.hasArgs || open.tool != tool || delegates[tool].argument == "" {
		return
	}
	for _, args := range [...]strictjson.Value{listed.Get("function").Get("arguments"), listed.Get("args"), listed.Get("input")} {
		text := args.Raw()
		if args.Kind() == strictjson.String {
			text = args.Text()
		}
		if whole := parseArgs(text); whole.Exists() {
			open.setTarget(whole)
		}
	}
}

// parseArgs returns arguments, or a value that does not exist if they are no JSON.
func parseArgs(text []byte) strictjson.Value {
	var doc strictjson.Doc
	if len(text) == 0 || doc.Parse(text, maxArgsDepth, strictjson.Everywhere) != nil {
		return strictjson.Value{}
	}
	return doc.Root()
}

// isRefused reports whether a result says that a delegation reached no agent. Agno 3 encodes a text as JSON.
func (c *call) isRefused(content strictjson.Value) bool {
	text := strings.TrimPrefix(content.String(), `"`)
	return c.target != "" && slices.ContainsFunc(delegates[c.tool].refusals, func(refusal string) bool {
		return strings.HasPrefix(text, strings.Replace(refusal, "NAME", c.target, 1))
	})
}

// startDelegate makes the agent that a delegation names the speaker of the batch. Only the call's result reports that the
// agent has finished.
func (d *decoder) startDelegate(open *call, b *event.Batch) {
	if delegates[open.tool].argument == "" {
		return
	}
	if d.setDelegate(open); !d.wholeCalls && open.delegate.name != "" {
		open.delegate.apply(b)
	}
}

// startLearned begins the agents of calls, if only this frame states their arguments and these had ended before: no later frame shows that
// the agents begin.
func (d *decoder) startLearned(b *event.Batch) {
	for i := range d.calls {
		open := &d.calls[i]
		if !open.argsEnded || open.delegate.name != "" || d.wholeCalls {
			continue
		}
		if d.setDelegate(open); open.delegate.name != "" && b.BeginTurn(b.Speaker()) {
			open.delegate.isLate = false
			open.delegate.apply(b)
			b.SetSpeaker(b.Speaker())
		}
	}
	b.EndTurns()
}

// setDelegate sets the agent that a delegation names, if its arguments are whole.
func (d *decoder) setDelegate(open *call) {
	if delegates[open.tool].argument == "" || open.delegate.name != "" {
		return
	}
	if member := open.target; member != "" {
		if open.delegate, open.announced = d.agents.within(open.id, member); !open.announced {
			open.delegate = agent{name: member, branch: open.id, within: open.id, parent: cmp.Or(open.caller.branch, open.caller.parent), isLate: open.argsEnded}
		}
	}
}
