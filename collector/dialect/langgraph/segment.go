package langgraph

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect"
)

// splitEvent returns the stream mode and the namespace of an event name.
func splitEvent(name []byte) (mode string, namespace []byte) {
	head, rest, _ := bytes.Cut(name, []byte("|"))
	return string(head), rest
}

// anySegment reports whether a segment of an event name or a namespace matches.
func anySegment(name []byte, matches func([]byte) bool) bool {
	for segment := range bytes.SplitSeq(name, []byte("|")) {
		if matches(segment) {
			return true
		}
	}
	return false
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

// cutTask splits a namespace after its first task and, if one follows, the number of the graph that the task runs.
func cutTask(namespace []byte) (segment, inner []byte) {
	segment, inner, _ = bytes.Cut(namespace, []byte("|"))
	if next, rest, _ := bytes.Cut(inner, []byte("|")); isCounter(next) {
		inner = rest
	}
	return segment, inner
}

func isCounter[T []byte | string](segment T) bool {
	for i := range len(segment) {
		if segment[i] < '0' || segment[i] > '9' {
			return false
		}
	}
	return len(segment) > 0
}

// splitSegment returns the node and the task of a namespace's segment.
func splitSegment(segment []byte) (node []byte, task string) {
	node, id, found := bytes.Cut(segment, []byte(":"))
	if !found {
		id = segment
	}
	return node, dialect.Name(string(id))
}
