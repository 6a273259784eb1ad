package wire_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// TestSharedSet adds IDs on one stream and looks for them on another.
func TestSharedSet(t *testing.T) {
	const (
		unique  = "run-11111111-2222-3333-4444-aAfF55555555-0"
		digits  = "msg_11111111222233334444aAfF55555555"
		similar = "msg_11111111222233334444aAfF5555555-5"
	)
	var memory event.Withheld
	set := func(kind string, scopes ...string) *wire.SharedSet {
		s := wire.NewSharedSet(&event.Stream{Withheld: &memory}, kind)
		s.SetScopes(scopes...)
		return &s
	}
	first, early := set("a", "thread", "run"), set("a", "thread")
	if !first.IsEmpty() || early.Contains("x") {
		t.Error("a new set is not empty")
	}
	for _, id := range []string{"x", unique, digits, "66666666" + digits[4:], similar} {
		first.Add(id)
	}
	first.AddOwn("own")
	for _, test := range []struct {
		set  *wire.SharedSet
		id   string
		want bool
	}{
		{first, "x", true}, {first, "own", true}, {first, unique, true}, {early, "x", true}, {early, "own", false}, {early, unique, true},
		{set("a", "", "thread"), "x", true}, {set("a", "another", "thread"), "x", true}, {set("a", "run"), "x", false}, {set("a"), "x", false},
		{set("b", "thread"), "x", false}, {set("a"), unique, true}, {set("a"), unique[1:], false}, {set("b"), unique, false},
		{set("a"), digits, true}, {set("a"), digits[:len(digits)-1], false}, {set("a"), "66666666" + digits[4:], true}, {set("a"), similar, false}, {set("a", "run"), similar, false},
	} {
		if got := test.set.MayContain(test.id); got != test.want {
			t.Errorf("%+v contains %s: %v", test.set, test.id, got)
		}
	}
	if early.Contains("late") {
		t.Error("an ID is in the set before it is added")
	}
	if first.Add("late"); !early.Contains("late") {
		t.Error("an ID that is added after another stream has asked for it is not found")
	}
	if first.Remove("x"); first.Contains("x") || set("a", "thread").Contains("x") {
		t.Error("a removed ID is remembered")
	}
}

// TestSharedSetBounds checks that only what a stream withholds first counts for its limit.
func TestSharedSetBounds(t *testing.T) {
	var memory event.Withheld
	first, second := wire.NewSharedSet(&event.Stream{Withheld: &memory}, "a"), wire.NewSharedSet(&event.Stream{Withheld: &memory}, "a")
	for _, set := range []*wire.SharedSet{&first, &second} {
		set.SetScopes("thread")
		for i := range 2 * wire.MaxSet {
			set.Add(fmt.Sprint(i))
		}
	}
	if !first.IsFull() || second.IsFull() || second.MayContain("another") || !second.MayContain("0") {
		t.Errorf("full: %v, %v", first.IsFull(), second.IsFull())
	}
	var alone wire.SharedSet
	alone.Add("x")
	if !alone.Contains("x") || alone.IsShared("x") || alone.IsEmpty() {
		t.Error("a set without a memory does not have what was added")
	}
}
