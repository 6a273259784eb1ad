package langgraph

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
)

// openCalls holds the withheld calls that open returns, by where they may run.
type openCalls struct {
	isFull   bool // there may be others
	all      callGroup
	anywhere callGroup // those that no tool made, or of which that is unknown
	byPlace  map[toolPlace]*callGroup
	byTool   map[uint64][]withheldCall
	byID     map[uint64]struct{}
}

// callGroup holds calls that may run in the same tasks.
type callGroup struct {
	calls         []withheldCall
	asksSubagents bool // one of the calls may ask a subagent, which may work in a node of any name
}

func (g *callGroup) add(c withheldCall) {
	g.calls = append(g.calls, c)
	g.asksSubagents = g.asksSubagents || c.mayAskSubagent()
}

func (c withheldCall) mayAskSubagent() bool { return c.Target != 0 || c.Tool == wire.Hash(taskTool) }

// indexed returns the calls that open returns.
func (h *withheldCalls) indexed(orEnded bool) *openCalls {
	at := 0
	if orEnded {
		at = 1
	}
	if h.index[at] == nil {
		open, isFull := h.open(orEnded)
		h.index[at] = newOpenCalls(open, isFull)
	}
	return h.index[at]
}

// forgetIndex makes indexed read the calls again.
func (h *withheldCalls) forgetIndex() { h.index = [2]*openCalls{} }

func newOpenCalls(open []withheldCall, isFull bool) *openCalls {
	o := &openCalls{isFull: isFull, byPlace: make(map[toolPlace]*callGroup), byTool: make(map[uint64][]withheldCall), byID: make(map[uint64]struct{})}
	for _, c := range open {
		o.all.add(c)
		o.byTool[c.Tool] = append(o.byTool[c.Tool], c)
		o.byID[c.ID] = struct{}{}
		if c.within == (toolPlace{}) {
			o.anywhere.add(c)
			continue
		}
		for _, key := range []toolPlace{{namespace: c.within.namespace}, {nodes: c.within.nodes, lacksTask: c.within.lacksTask}} {
			if o.byPlace[key] == nil {
				o.byPlace[key] = new(callGroup)
			}
			o.byPlace[key].add(c)
		}
	}
	return o
}

// madeIn returns the calls that were made in a tool. If a namespace lacks IDs, only its nodes tell.
func (o *openCalls) madeIn(tool toolPlace) (groups []*callGroup) {
	for _, key := range []toolPlace{{namespace: tool.namespace}, {nodes: tool.nodes, lacksTask: true}, {nodes: tool.nodes}} {
		if group := o.byPlace[key]; group != nil && (key.nodes == 0 || key.lacksTask || tool.lacksTask) {
			groups = append(groups, group)
		}
	}
	return groups
}

// mayRunIn returns the calls that a task may execute. A call that was made in a tool runs within that tool.
func (o *openCalls) mayRunIn(t taskPlace) []*callGroup {
	if t.outerUnknown {
		return []*callGroup{&o.all}
	}
	groups := []*callGroup{&o.anywhere}
	for _, tool := range t.tools {
		groups = append(groups, o.madeIn(tool)...)
	}
	return groups
}

// toolScan finds the places of tools in a namespace, from the outermost, as far as withheld calls were made in them.
type toolScan struct {
	made      *openCalls
	found     []toolPlace
	nodes     []byte
	lacksTask bool
}

// add adds a segment. place is the namespace up to and including it.
func (s *toolScan) add(segment, place []byte) {
	if isCounter(segment) {
		return
	}
	node, _ := splitSegment(segment)
	s.nodes = append(append(s.nodes, '|'), node...)
	s.lacksTask = s.lacksTask || withoutTask(segment)
	if string(node) != toolNode || len(s.made.byPlace) == 0 {
		return
	}
	tool := toolPlace{wire.Hash(string(place)), wire.Hash(string(s.nodes[1:])), s.lacksTask}
	if len(s.made.madeIn(tool)) > 0 {
		s.found = append(s.found, tool)
	}
}

// toolsAround returns the tools in a namespace in which withheld calls were made. It reads at most maxAround segments.
func (h *withheldCalls) toolsAround(namespace []byte) []toolPlace {
	s := toolScan{made: h.indexed(true)}
	for rest, n := namespace, 0; len(rest) > 0 && n < maxAround; n++ {
		var segment []byte
		segment, rest, _ = bytes.Cut(rest, []byte("|"))
		s.add(segment, bytes.TrimSuffix(namespace[:len(namespace)-len(rest)], []byte("|")))
	}
	return s.found
}

// mayWorkInWithheldCall reports whether a task may work within one of the calls that open returns. If a shown call names the
// task's agent, withheld calls that name another agent are ruled out.
func (d *decoder) mayWorkInWithheldCall(t taskPlace, agent string, orEnded bool) bool {
	open := d.withheldCalls.indexed(orEnded)
	if open.isFull || len(open.all.calls) == 0 {
		return open.isFull
	}
	node, _ := splitSegment(t.segment)
	isOfTools, isNamed, target := string(node) == toolNode, d.isShownAgent(agent), wire.Hash(agent)
	return slices.ContainsFunc(open.mayRunIn(t), func(g *callGroup) bool {
		if !isNamed {
			return isOfTools && len(g.calls) > 0 || g.asksSubagents
		}
		return slices.ContainsFunc(g.calls, func(c withheldCall) bool {
			return (isOfTools || c.mayAskSubagent()) && (c.Target == 0 || c.Target == target)
		})
	})
}
