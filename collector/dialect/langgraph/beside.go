package langgraph

import (
	"slices"
	"strings"
)

// hasWorkBeside reports whether another task of the node of a graph has an open response or call, is running, or has sent only its first state, so it works at the same
// time. A call counts only until another node speaks, because an agent may hand control over with it.
func (d *decoder) hasWorkBeside(sc *scope) bool {
	isBeside := func(other *scope) bool {
		for ; other != nil; other = other.above {
			if other.above == sc.above && other.node == sc.node && other.task != sc.task {
				return true
			}
		}
		return false
	}
	for _, m := range d.open {
		if !m.abandoned && isBeside(m.scope) {
			return true
		}
	}
	for _, next := range d.announced {
		if isBeside(next.scope) {
			return true
		}
	}
	for namespace := range d.idle {
		if isBeside(d.scopes[namespace]) {
			return true
		}
	}
	for namespace := range d.running {
		if node, task, _ := strings.Cut(namespace, ":"); node == sc.node && task != sc.task {
			return true
		}
	}
	return isBeside(d.last) && slices.ContainsFunc(d.calls, func(c *call) bool {
		return !c.abandoned && !c.earlier && !strings.HasPrefix(c.tool, handoffTool) && isBeside(c.scope)
	})
}
