package deepagents

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// pseudonym returns a hash of a thread's id, or "" without one. The id itself must not leave, because it is
// enough to resume the thread.
func pseudonym(thread []byte) string {
	if len(thread) == 0 {
		return ""
	}
	sum := sha256.Sum256(thread)
	return "thread-" + hex.EncodeToString(sum[:8])
}

// toolFailure returns how a call ended. The documentation lists only "ok".
func toolFailure(status strictjson.Value) event.Failure {
	switch status.String() {
	case "", "ok", "success", "completed":
		return event.NoFailure
	case "cancelled", "canceled":
		return event.FailureCanceled
	}
	return event.ToolError
}

// runFailure returns how the run ended.
func runFailure(status strictjson.Value) event.Failure {
	switch status.String() {
	case "", "completed", "interrupted":
		return event.NoFailure
	case "cancelled", "canceled":
		return event.FailureCanceled
	}
	return event.AgentError
}
