package wire

import (
	"iter"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Member is a member of an object or of its metadata.
type Member struct {
	Name, Value strictjson.Value
	InMetadata  bool
}

var (
	metadata          = []string{"metadata"}
	metadataPrefilter = lenient.NewPrefilter(&event.Table{Labels: metadata})
)

// WithMetadata yields the members of an object, in order. After a member that a lenient reader may take for the metadata,
// it yields the members in it.
func WithMetadata(object strictjson.Value) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for name, value := range object.Members() {
			if !yield(Member{Name: name, Value: value}) {
				return
			}
			if text := name.Text(); !metadataPrefilter.MayMatch(text) || !lenient.MatchesAny(text, metadata) {
				continue
			}
			for name, value := range value.Members() {
				if !yield(Member{name, value, true}) {
					return
				}
			}
		}
	}
}
