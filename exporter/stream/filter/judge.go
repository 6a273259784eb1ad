package filter

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// judge looks for anything that calls the frame, or a frame within it, internal or by a name that the table does not have.
func (f *Filter) judge(t *event.Table, frame strictjson.Value) Reason {
	if f.table != t {
		f.table, f.glance = t, generous.NewGlance(t)
	}
	switch internal, unknown := generous.Judge(t, f.glance, frame); {
	case internal:
		return Internal
	case unknown:
		return Unknown
	}
	return Passed
}
