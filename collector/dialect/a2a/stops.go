package a2a

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// stops reports whether an update states that its task has ended or waits. A reader that missed that would wait for more.
func (u update) stops() bool {
	s := states[u.body.Get("status").Get("state").String()]
	return (s.isFinal() || s.isWaiting()) && !u.misplaced
}

var (
	// stateMembers are the members of an update that state what its task does, and stateEnvelopes the objects in which they are.
	stateMembers   = []string{"jsonrpc", "id", "kind", "taskId", "contextId", "final", "state", "timestamp"}
	stateEnvelopes = []string{"result", "task", "statusUpdate", "status"}
)

// cutToState withholds all of an update except the state of its task.
func cutToState(v strictjson.Value, b *event.Batch) {
	for name, value := range v.Members() {
		switch text := string(name.Text()); {
		case slices.Contains(stateEnvelopes, text) && value.Kind() == strictjson.Object:
			cutToState(value, b)
		case !slices.Contains(stateMembers, text) || !isScalar(value):
			b.Cut(value)
		}
	}
}
