package langgraph

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// The name of the node that handles the errors of another one begins with handlerPrefix and ends with that node's name. defaultHandler
// handles those of all nodes without their own handler.
//
// Source: langgraph/graph/state.py, StateGraph.add_node and compile.
const (
	handlerPrefix  = "__error_handler__"
	defaultHandler = "__default_error_handler__"
)

// isInternalNode reports whether the name of a node, an agent or a graph is internal, or that of the error handler of an internal node.
func isInternalNode(name []byte) bool {
	return lenient.IsInternal(bytes.TrimPrefix(name, []byte(handlerPrefix)))
}

// mayHandleInternal reports whether a task or an update is of the handler of all nodes, which may have handled an error of internal work.
func (d *decoder) mayHandleInternal(v strictjson.Value) bool {
	isHandler := v.Get("name").Is(defaultHandler) || v.Get(defaultHandler).Exists()
	return isHandler && d.failures.Len()+len(d.working) > 0
}
