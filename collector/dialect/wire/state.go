package wire

import (
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// MaxKeys bounds the keys of a state that are reported per frame.
const MaxKeys = 64

// StateOf returns the keys and the size of a state.
func StateOf(v strictjson.Value) event.State {
	s := event.State{Bytes: event.Count{N: int64(len(v.Raw())), Known: true}}
	for name := range v.Members() {
		if len(s.Keys) < MaxKeys {
			s.Keys = append(s.Keys, dialect.Name(name.String()))
		}
	}
	return s
}

// NumberedBranch returns the branch of an execution of a node or step. The number of the execution makes it unique.
func NumberedBranch(name string, number int64) string {
	end := "#" + strconv.FormatInt(number, 10)
	return event.LimitText(name, dialect.MaxName-len(end)) + end
}
