package wire

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
)

// IsFiltered reports whether the filter withholds a frame because of a name in it. p must be the Prefilter of
// b.Table. IsFiltered must decide as the filter does. Otherwise the continuation of a withheld frame could leave.
func IsFiltered(b *event.Batch, p *lenient.Prefilter) bool {
	return lenient.CheckNames(b, p) != event.NamesListed || lenient.IsInternal(b.Frame.Event) || !allowsEvent(b)
}

// allowsEvent reports whether the frame's type may have its SSE event name.
func allowsEvent(b *event.Batch) bool {
	name := b.Frame.Event
	if b.Table.TypeIsEventName {
		return len(name) == 0 || string(name) == b.Type
	}
	return b.Table.IgnoreEventName || b.Table.AllowsEvent(name)
}
