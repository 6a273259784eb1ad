package config

import (
	"reflect"
	"slices"
	"strings"
)

// reloadable are the keys that a program takes over while it runs, each with all that is below it.
var reloadable = []string{
	"sources", "runs.idle_timeout", "runs.max_operations", "traces",
	"stream.policy", "stream.kinds", "stream.authors", "stream.thoughts", "stream.confidence_floor", "stream.state_keys",
}

// NeedRestart lists the keys that differ in two configurations and that a running program does not take over.
func NeedRestart(running, wanted Config) []string {
	return differing("", reflect.ValueOf(running), reflect.ValueOf(wanted))
}

// differing goes down to the keys below which there is no section.
func differing(key string, a, b reflect.Value) (keys []string) {
	switch {
	case slices.Contains(reloadable, key) || reflect.DeepEqual(a.Interface(), b.Interface()):
		return nil
	case a.Kind() != reflect.Struct:
		return []string{key}
	}
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("yaml"), ",")
		keys = append(keys, differing(join(key, name), a.Field(i), b.Field(i))...)
	}
	return keys
}

// SameListen says whether two values of Proxy.Listen are one address, however they spell it. Port 0 is never the same.
func SameListen(a, b string) bool {
	one, errOne := parseAddress(a)
	other, errOther := parseAddress(b)
	return errOne == nil && errOther == nil && one == other && one.port != 0
}
