package a2a

import (
	"hash/maphash"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// state is the state of a task.
type state uint8

const (
	unknown state = iota
	submitted
	working
	inputRequired
	authRequired
	completed
	failed
	canceled
	rejected
)

// states maps the spellings of 0.3 and of 1.0. 0.3 over HTTP+JSON uses those of 1.0, but with "CANCELLED".
var states = map[string]state{
	"submitted": submitted, "TASK_STATE_SUBMITTED": submitted,
	"working": working, "TASK_STATE_WORKING": working,
	"input-required": inputRequired, "TASK_STATE_INPUT_REQUIRED": inputRequired,
	"auth-required": authRequired, "TASK_STATE_AUTH_REQUIRED": authRequired,
	"completed": completed, "TASK_STATE_COMPLETED": completed,
	"failed": failed, "TASK_STATE_FAILED": failed,
	"canceled": canceled, "TASK_STATE_CANCELED": canceled, "TASK_STATE_CANCELLED": canceled,
	"rejected": rejected, "TASK_STATE_REJECTED": rejected,
}

func (s state) isFinal() bool { return s >= completed }

func (s state) isWaiting() bool { return s == inputRequired || s == authRequired }

// status is the status of a task.
type status struct {
	state
	message strictjson.Value
	parts   parts // of the message
	time    time.Time
}

// readStatus reads the status of a task or of an update.
func readStatus(around strictjson.Value) status {
	v := around.Get("status")
	message := v.Get("message")
	// Python servers of 2025 sent local times without a zone. TextTime leaves these zero.
	return status{states[string(v.Get("state").Text())], message, partsOf(message, around, v), dialect.TextTime(v.Get("timestamp"))}
}

// hash returns a hash that is equal for the same status in an update and in a snapshot. It is never 0. All statuses of
// ended tasks have the same hash, because servers may send one again with another time or message.
func (s status) hash() uint64 {
	if s.isFinal() {
		return event.StateEnded
	}
	id := s.message.Get("messageId").Text()
	return maphash.Comparable(seed, struct {
		state
		time    time.Time
		message string
	}{s.state, s.time, string(id)}) | 1
}

// fromUser reports whether a message may be from the user: every message whose role is not an
// agent's.
func fromUser(message strictjson.Value) bool {
	role := message.Get("role")
	return message.Exists() && !role.Is("agent") && !role.Is("ROLE_AGENT")
}
