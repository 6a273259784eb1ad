package sidecar

import (
	"testing"
	"time"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream/jetstream"
)

// TestStoreLayout checks the layout of configurations with and without shards.
func TestStoreLayout(t *testing.T) {
	c := config.Default().Stream
	c.JetStream.URLs = []string{"nats://all"}
	common := jetstream.Settings{QueueBytes: 64 << 20, Publish: true}
	one, err := storeLayout(c, common)
	if err != nil || len(one.Shards) != 1 || one.Shards[0].Name != "" || one.Shards[0].Settings.QueueBytes != 64<<20 {
		t.Errorf("without shards: %+v, %v", one, err)
	}
	c.JetStream.Shards = []config.Shard{{Name: "a", Gateway: "https://a.example.org/base/"}, {Name: "b", URLs: []string{"nats://b"}, Stream: "B"}}
	c.JetStream.Serve, c.JetStream.Previous, c.JetStream.MoveAt = []string{"b"}, []string{"a"}, "2026-11-24T12:00:00+01:00"
	two, err := storeLayout(c, common)
	if err != nil || len(two.Shards) != 2 || two.Serve[0] != "b" || two.Previous[0] != "a" || !two.MoveAt.Equal(time.Date(2026, 11, 24, 11, 0, 0, 0, time.UTC)) {
		t.Fatalf("the layout is %+v, error %v", two, err)
	}
	a, b := two.Shards[0], two.Shards[1]
	if a.Gateway != "https://a.example.org/base" || a.Settings.URLs[0] != "nats://all" || a.Settings.Stream != "DELEGRAPH" {
		t.Errorf("a: %+v", a)
	}
	if b.Settings.URLs[0] != "nats://b" || b.Settings.Stream != "B" || a.Settings.QueueBytes+b.Settings.QueueBytes != 64<<20 {
		t.Errorf("b: %+v", b)
	}
	c.JetStream.MoveAt = "noon"
	if _, err := storeLayout(c, common); err == nil {
		t.Error("a wrong time is accepted")
	}
}
