package deepagents

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxDepth bounds the nesting of JSON that stands in a string.
const maxDepth = 128

// inside is a value that is sent as JSON in a string. A text that is no JSON, perhaps because the server cut it, is a string.
func (d *decoder) inside(v strictjson.Value) strictjson.Value {
	if v.Kind() != strictjson.String {
		return v
	}
	d.text = v.AppendText(d.text[:0])
	if d.doc.Parse(d.text, maxDepth) != nil {
		return v
	}
	return d.doc.Root()
}

// pseudonym stands for a thread. Whoever knows the thread's own id may go on with its work, so that it is told to nobody.
func pseudonym(thread []byte) string {
	if len(thread) == 0 {
		return ""
	}
	sum := sha256.Sum256(thread)
	return "thread-" + hex.EncodeToString(sum[:8])
}

// toolFailure reads how a call ended. Only "ok" is documented.
func toolFailure(status strictjson.Value) event.Failure {
	switch status.String() {
	case "", "ok", "success", "completed":
		return event.NoFailure
	case "cancelled", "canceled":
		return event.FailureCanceled
	}
	return event.ToolError
}

// runFailure reads how the run ended.
func runFailure(status strictjson.Value) event.Failure {
	switch status.String() {
	case "", "completed", "interrupted":
		return event.NoFailure
	case "cancelled", "canceled":
		return event.FailureCanceled
	}
	return event.AgentError
}
