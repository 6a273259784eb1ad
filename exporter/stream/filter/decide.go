package filter

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// checkNames returns ReasonInternal if the frame, or a frame within it, is marked as internal. It
// returns ReasonUnknown if one of them has a name that the table does not list, else Passed.
func (f *Filter) checkNames(t *event.Table, frame strictjson.Value) Reason {
	if f.table != t {
		f.table, f.prefilter = t, lenient.NewPrefilter(t)
	}
	switch internal, unknown := lenient.Check(t, f.prefilter, frame); {
	case internal:
		return ReasonInternal
	case unknown:
		return ReasonUnknown
	}
	return Passed
}
