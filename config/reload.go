package config

import (
	"reflect"
	"slices"
	"strings"
)

// reloadable lists the keys that a running process can apply, each with all keys below it.
var reloadable = []string{
	"sources", "runs.idle_timeout", "runs.max_operations", "traces",
	"stream.policy", "stream.kinds", "stream.authors", "stream.thoughts", "stream.confidence_floor", "stream.state_keys",
	"stream.jetstream.shards", "stream.jetstream.serve", "stream.jetstream.previous", "stream.jetstream.move_at",
}

// RestartKeys returns the keys that differ in two configurations and that a running process cannot apply.
func RestartKeys(running, wanted Config) []string {
	return changedKeys("", reflect.ValueOf(running), reflect.ValueOf(wanted))
}

// changedKeys returns the keys below key whose values differ, except reloadable ones.
func changedKeys(key string, a, b reflect.Value) (keys []string) {
	switch {
	case slices.Contains(reloadable, key) || reflect.DeepEqual(a.Interface(), b.Interface()):
		return nil
	case a.Kind() != reflect.Struct:
		return []string{key}
	}
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("yaml"), ",")
		keys = append(keys, changedKeys(join(key, name), a.Field(i), b.Field(i))...)
	}
	return keys
}

// SameListenAddress reports whether two values of Proxy.Listen are the same address in any spelling. Port 0 is
// never the same.
func SameListenAddress(a, b string) bool {
	one, errOne := parseAddress(a)
	other, errOther := parseAddress(b)
	return errOne == nil && errOther == nil && one == other && one.port != 0
}
