package filter

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
)

// checkNames returns ReasonInternal if the frame, or a frame within it, is marked as internal. It
// returns ReasonUnknown if one of them has a name that the table does not list, else Passed.
func (f *Filter) checkNames(b *event.Batch) Reason {
	if f.table != b.Table {
		f.table, f.prefilter = b.Table, lenient.NewPrefilter(b.Table)
	}
	switch lenient.CheckNames(b, f.prefilter) {
	case event.NamesInternal:
		return ReasonInternal
	case event.NamesUnknown:
		return ReasonUnknown
	}
	return Passed
}
