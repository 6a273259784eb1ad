package tracker

import (
	"fmt"
	"reflect"
)

// Sizes returns the length of the longest list and map of each name that the open runs hold.
func (t *Tracker) Sizes() map[string]int {
	sizes := map[string]int{}
	for _, r := range t.open.Keys() {
		measure(reflect.ValueOf(r).Elem(), sizes)
		if state := t.streams[r.stream]; state != nil {
			measure(reflect.ValueOf(state).Elem(), sizes)
		}
	}
	return sizes
}

func measure(v reflect.Value, sizes map[string]int) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch field := v.Field(i); field.Kind() {
		case reflect.Map, reflect.Slice:
			sizes[name] = max(sizes[name], field.Len())
		case reflect.Struct:
			measure(field, sizes)
		}
	}
}

// CheckOpen returns the first violation of these rules in an open run: the indexes of open nodes hold only open nodes, and what is
// above an open operation is open.
func (t *Tracker) CheckOpen() error {
	for _, r := range t.open.Keys() {
		for key, op := range r.nodes {
			if !op.open || op.node == nil {
				return fmt.Errorf("place %q holds %s %q, which is no open node", key.name, op.Kind, op.Name)
			}
		}
		for at, op := range r.lastInLane {
			if !op.open || op.node == nil {
				return fmt.Errorf("lane %q holds %s %q, which is no open node", at.lane, op.Kind, op.Name)
			}
		}
		for name, op := range r.silentTargets {
			if !op.open || op.node == nil {
				return fmt.Errorf("target %q is %s %q, which is no open node", name, op.Kind, op.Name)
			}
		}
		if r.current != nil && !r.current.open {
			return fmt.Errorf("%s %q is in control, but has ended", r.current.Kind, r.current.Name)
		}
		for _, op := range r.Operations {
			if op.open && op.parent != nil && !op.parent.open {
				return fmt.Errorf("%s %q is open below %s %q, which has ended", op.Kind, op.Name, op.parent.Kind, op.parent.Name)
			}
		}
	}
	return nil
}
