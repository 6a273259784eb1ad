package tracker

import "reflect"

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
