package sidecar

import (
	"testing"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream/jetstream"
)

// TestArgumentsFollowThePolicy checks that the other formats wait for the arguments of calls if the policy in force lets them out, also
// after a reload.
func TestArgumentsFollowThePolicy(t *testing.T) {
	e := &external{}
	for _, c := range []struct {
		policy string
		want   bool
	}{{config.PolicyPublic, false}, {config.PolicyClient, true}, {config.PolicyPublic, false}} {
		if e.filterSettings(config.Stream{Policy: c.policy}); e.mayHaveArguments() != c.want {
			t.Errorf("under %s, arguments are waited for: %t, want %t", c.policy, !c.want, c.want)
		}
	}
	e.store = &jetstream.Shards{}
	if !e.mayHaveArguments() {
		t.Error("with a store, to which other processes may write arguments, none are waited for")
	}
}
