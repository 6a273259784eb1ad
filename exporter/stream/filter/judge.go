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
	for name, value := range frame.Members() {
		text := name.Text()
		if !f.glance.Catches(text) {
			continue
		}
		if generous.Among(text, t.Discriminators) {
			if generous.HoldsInternal(value) {
				return Internal
			}
			if _, known := t.Types[string(value.Text())]; !known || value.Kind() != strictjson.String {
				return Unknown
			}
		}
		if generous.Among(text, t.Labels) && generous.HoldsInternal(value) {
			return Internal
		}
		if (t.Deep || generous.Among(text, t.Envelopes)) && generous.NamesInternal(t, value) {
			return Internal
		}
	}
	return Passed
}
