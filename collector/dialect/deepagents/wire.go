package deepagents

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

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
