package jetstream

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/collector/recovery"
)

// panicsOnce is an Observer that panics at the first published frame.
type panicsOnce struct {
	*tally
	once sync.Once
}

func (p *panicsOnce) CountPublished() {
	p.once.Do(func() { panic("planted") })
	p.tally.CountPublished()
}

// TestPublisherSurvivesAPanic checks that a panic while a frame is published does not end the process, and that readers get each frame
// once.
func TestPublisherSurvivesAPanic(t *testing.T) {
	s := newServer(t, "")
	var panics tally
	store, seen := s.open(func(set *Settings) {
		set.Observer = &panicsOnce{tally: set.Observer.(*tally)}
		set.Panics = recovery.New(slog.New(slog.DiscardHandler), func(c recovery.Component) { panics.note(string(c)) })
	})
	reads := attach(t, store, "", "c1")
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprint("a", i))
		store.Publish(heardFrame("c1", fmt.Sprint(i), want[i]))
	}
	reads.wants(want...)
	until(t, "every frame is accounted for", func() bool { return seen.count("published")+seen.count("repeated") == 5 })
	if panics.count(string(recovery.Stream)) != 1 || seen.count("repeated") != 1 {
		t.Errorf("%v panics, %v", panics.events, seen.events)
	}
}

// TestRecovered checks that a panic becomes an error, and that other results pass.
func TestRecovered(t *testing.T) {
	panics := recovery.New(slog.New(slog.DiscardHandler), func(recovery.Component) {})
	other := errors.New("other")
	got := []error{
		recovered(panics, func() error { panic("planted") }), recovered(panics, func() error { return other }), recovered(panics, func() error { return nil }),
	}
	if want := []error{errPanicked, other, nil}; !slices.Equal(got, want) {
		t.Errorf("the results are %v, want %v", got, want)
	}
}
