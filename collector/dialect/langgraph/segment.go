package langgraph

import (
	"bytes"
	"strings"
)

// splitEvent returns the stream mode and the namespace of an event name.
func splitEvent(name []byte) (mode string, namespace []byte) {
	head, rest, _ := bytes.Cut(name, []byte("|"))
	return string(head), rest
}

// maxNamespace limits a namespace that is remembered, in bytes. LangGraph's have about 50 for each graph.
const maxNamespace = 4 << 10

// splitLast splits a namespace before its last segment.
func splitLast(namespace []byte) (outer, last []byte) {
	if i := bytes.LastIndexByte(namespace, '|'); i >= 0 {
		return namespace[:i], namespace[i+1:]
	}
	return nil, namespace
}

// splitGraph splits the namespace of a graph into that of the graph around it and the rest: the segment of its task and, for all but the
// first graph that the task runs, a number.
//
// Source: langgraph/pregel/_loop.py, PregelLoop.__init__, subgraph_counter.
func splitGraph(namespace []byte) (outer, own []byte) {
	outer, own = splitLast(namespace)
	if len(outer) > 0 && isCounter(own) {
		outer, _ = splitLast(outer)
		own = bytes.TrimPrefix(namespace[len(outer):], []byte("|"))
	}
	return outer, own
}

func isCounter[T []byte | string](segment T) bool {
	for i := range len(segment) {
		if segment[i] < '0' || segment[i] > '9' {
			return false
		}
	}
	return len(segment) > 0
}

// isWithinGraph reports whether a graph is another one, or works within a task of it.
func isWithinGraph(graph, of string) bool {
	inner, isInner := strings.CutPrefix(graph, of+"|")
	next, _, _ := strings.Cut(inner, "|")
	return of == "" || graph == of || isInner && !isCounter(next)
}
