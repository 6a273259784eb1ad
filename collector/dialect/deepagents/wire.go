package deepagents

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

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

// failureOf returns the failure that a status states, or NoFailure. class is that of an error. The documentation of tools lists only
// "ok". An interrupted run has not failed.
func failureOf(status strictjson.Value, class event.Failure) event.Failure {
	switch {
	case !isSet(status) || slices.ContainsFunc(successes, status.Is) || class == event.AgentError && status.Is("interrupted"):
		return event.NoFailure
	case slices.ContainsFunc(cancellations, status.Is):
		return event.FailureCanceled
	}
	return class
}

// Statuses that say how a call or a run has ended. Any other one is a failure.
var (
	successes     = []string{"ok", "success", "completed", "done"}
	cancellations = []string{"cancelled", "canceled"}
)
