package stream

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

func TestGapFrame(t *testing.T) {
	for _, test := range []struct {
		gap  replay.Gap
		want string
	}{
		{
			replay.Gap{Reason: replay.Evicted, Requested: "e-1", Oldest: "e-5", Head: "e-9"},
			"id: e-4\nevent: delegraph.gap\ndata: {\"reason\":\"evicted\",\"requested\":\"e-1\",\"oldest\":\"e-5\",\"head\":\"e-9\"}\n\n",
		},
		{
			replay.Gap{Reason: replay.Unknown, Head: "e-0"},
			"id: e-4\nevent: delegraph.gap\ndata: {\"reason\":\"unknown\",\"requested\":null,\"oldest\":null,\"head\":\"e-0\"}\n\n",
		},
	} {
		if got := string(appendGap(nil, "e-4", &test.gap)); got != test.want {
			t.Errorf("%+v: %q, want %q", test.gap, got, test.want)
		}
	}
}

// TestResumeFromGap cuts the connection right behind each sort of gap frame: who comes back with its id has every frame that
// followed it, once, and no second gap while the first of them is held.
func TestResumeFromGap(t *testing.T) {
	for _, test := range []struct{ id, reason string }{
		{"e-1", "evicted"}, {"e-99", "future"}, {"other-3", "restarted"}, {"<script>", "unknown"}, {strings.Repeat("9", 8000), "unknown"},
	} {
		for name, published := range map[string]int{"nothing was published": 0, "all is held": 3, "some is gone": 9} {
			if test.reason == "evicted" && published < 9 {
				continue
			}
			t.Run(test.reason+", "+name, func(t *testing.T) {
				bubble(t, func(set *Settings) { set.Replay.Frames = 5 }, func(s *stand) {
					for i := range published {
						s.hub.Publish(say(fmt.Sprint(i + 1)))
					}
					frames, _ := received(s.T, s.get("/events", "Last-Event-ID: "+test.id).take())
					if len(frames) == 0 || !strings.Contains(frames[0], `delegraph.gap {"reason":"`+test.reason+`"`) {
						s.Fatalf("got %q", frames)
					}
					id, _, _ := strings.Cut(frames[0], " ")
					again := s.get("/events", "Last-Event-ID: "+id)
					s.hub.Publish(say("live"))
					synctest.Wait()
					got, _ := received(s.T, again.take())
					want := append(frames[1:], fmt.Sprintf("e-%d message live", published+1))
					if !slices.Equal(got, want) {
						s.Errorf("behind %s: got %q, want %q", frames[0], got, want)
					}
				})
			})
		}
	}
}
