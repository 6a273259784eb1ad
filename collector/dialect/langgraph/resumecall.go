package langgraph

import (
	"cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// noteResumed records a call of an earlier run that a task may execute. The server also shows tasks that an earlier run has finished.
//
// Source: langchain_core/messages/tool.py, ToolCall.
func (d *decoder) noteResumed(sc *scope, task string, c strictjson.Value) {
	id, tool := d.name(c.Get("id")), d.name(c.Get("name"))
	if !c.Get("type").Is("tool_call") || tool == "" || d.calls.in(sc, id) != nil || d.seen.mustSkip(seenResult, id) {
		return
	}
	if d.resumedCalls == nil {
		d.resumedCalls = make(map[string]*call)
	}
	resumed := &call{id: id, tool: tool, scope: sc, by: sc.speaker(), earlier: true}
	if tool == taskTool {
		resumed.target = d.name(c.Get("args").Get(subagentMember))
	}
	d.resumedCalls[task] = resumed
}

// startResumed reports the start of a call of an earlier run, because a task within it shows that it runs again.
func (d *decoder) startResumed(sc *scope, b *event.Batch) {
	c := cmp.Or(d.resumedCalls[sc.task], d.calls.in(sc.above, sc.call))
	if c == nil || sc.call != c.id || !c.earlier || len(d.calls) >= maxOpenCalls || !c.by.claim(b) {
		return
	}
	if c.earlier = false; d.calls.in(c.scope, c.id) == nil {
		d.calls = append(d.calls, c)
	}
	delete(d.resumedCalls, sc.task)
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name = c.id, c.tool
}

// nameByTask sets the name of a graph's agent if a task of the graph states it. A graph that is not an agent
// inherits the metadata, so its tasks state the agent of a graph around it. That name does not count.
//
// Source: langchain/agents/factory.py (lc_agent_name), langchain_core/runnables/config.py, ensure_config.
func (d *decoder) nameByTask(sc *scope, task strictjson.Value) {
	named := task.Get("metadata").Get("lc_agent_name")
	if sc.stated = d.name(named); !isAgentNode(task.Get("name").String()) {
		return
	}
	for up := sc.above; up != nil; up = up.above {
		if sc.stated == up.stated || sc.stated == up.agent {
			return
		}
	}
	d.setAgent(sc, named)
}
