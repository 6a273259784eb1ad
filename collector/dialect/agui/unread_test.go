package agui_test

import (
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestBrokenErrors checks that only a frame of the type RUN_ERROR counts as an error if it cannot be read.
func TestBrokenErrors(t *testing.T) {
	for data, is := range map[string]bool{
		`{"type":"RUN_ERROR","message":"a "b""}`:                 true,
		`{ "message":"a "b"", "type" : "RUN_ERROR"}`:             true,
		`{"type":"CUSTOM","name":"codes","value":["RUN_ERROR",}`: false,
		`{"type":"CUSTOM","value":{"a":1,"type":"RUN_ERROR",}`:   false,
		`["type":"RUN_ERROR",`:                                   false,
	} {
		if got := slices.ContainsFunc(decode(t, data).Events, func(e event.Event) bool { return e.Kind == event.KindError }); got != is {
			t.Errorf("%s is an error: %t", data, got)
		}
	}
}
