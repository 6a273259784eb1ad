package filter_test

import (
	"bytes"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// adkBatches are the frames of an ADK stream, by the dialect itself and its own table.
func adkBatches(t testing.TB, wire io.Reader) iter.Seq[*event.Batch] {
	settings := collector.Settings{Frame: frameLimit, JSONDepth: depthLimit, Proof: proof.Limits{Text: 1 << 10, Findings: 10}}
	input := collector.Input{Reader: wire, Arrival: func() time.Time { return time.Time{} }}
	decoding := collector.New(collector.Dialects(), settings, nil).Decode(&event.Stream{Source: "test", Answer: true}, input, "adk")
	return func(yield func(*event.Batch) bool) {
		for {
			b, err := decoding.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			proof.Annotate(b, settings.Proof)                     // as the collector does before the external stream
			if b.Rejected != event.ReasonTruncated && !yield(b) { // half a frame is none
				return
			}
		}
	}
}

// adkAttempt is an attempt as it would look in a stream of the ADK.
type adkAttempt struct {
	name, wire     string
	public, client string // what becomes of each frame by each policy: passed, or the reason why it stays in
	why            string // where the client gets the canary
}

// adkEvent is an event with these members besides its run and its author.
func adkEvent(members ...string) string {
	return `{"invocationId":"e-1","author":"a",` + strings.Join(members, ",") + `}`
}

// Members and parts of events: what must leave, and what must not.
const (
	hello   = `"content":{"parts":[{"text":"hello"}]}`
	secret  = `"content":{"parts":[{"text":"` + canary + `"}]}`
	unheard = `"x":"` + canary + `"`
)

// data frames an event, without a space after the colon as Java does.
func data(event string) string { return "data:" + event + "\n\n" }

func adkParts(parts ...string) string {
	return `"content":{"parts":[` + strings.Join(parts, ",") + `]}`
}

// TestADKCatalogue tries the attempts of the catalogue, and those that only the ADK's frames make possible, on the ADK's own
// table, in reads of six sizes. Under public no canary leaves and no hello is lost. Under client the verdict is the one given:
// its client gets what is not called internal, and where that has a canary it is said why.
func TestADKCatalogue(t *testing.T) {
	policies := map[event.Policy]filter.Settings{
		event.PolicyPublic: {Policy: event.PolicyPublic},
		event.PolicyClient: {Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed},
	}
	for _, a := range slices.Concat(adkNames, adkReading, adkFraming, adkPayload) {
		for _, size := range readSizes {
			for policy, settings := range policies {
				out, verdicts := sent(t, adkBatches(t, chunked([]byte(a.wire), size)), filter.New(settings))
				want := map[event.Policy]string{event.PolicyPublic: a.public, event.PolicyClient: a.client}[policy]
				leaks := bytes.Contains(out, []byte(canary))
				lost := strings.Contains(want, passed) && !bytes.Contains(out, []byte("hello"))
				if verdicts != want || leaks != (policy == event.PolicyClient && a.why != "") || lost || countFrames(t, out) != strings.Count(want, passed) {
					t.Errorf("%s, %s, in reads of %d: %q, want %q; the canary leaves: %v, the hello is lost: %v\n%.300s", a.name, policy, size, verdicts, want, leaks, lost, out)
				}
			}
		}
	}
}

// countFrames reads what left; each frame has no name, and is data alone.
func countFrames(t *testing.T, out []byte) (n int) {
	t.Helper()
	frames := sse.NewReader(bytes.NewReader(out), 0)
	for {
		frame, err := frames.Next()
		if err == io.EOF {
			return n
		}
		if err != nil || len(frame.Event) > 0 || len(frame.ID) > 0 {
			t.Fatalf("%v: %q", err, out)
		}
		n++
	}
}
