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

// adkBatches returns the frames of an ADK stream, decoded by the dialect itself.
func adkBatches(t testing.TB, wire io.Reader) iter.Seq[*event.Batch] {
	settings := collector.Settings{MaxFrame: frameLimit, MaxJSONDepth: depthLimit, Proof: proof.Limits{MaxText: 1 << 10, MaxFindings: 10}}
	input := collector.Input{Reader: wire, ReceivedAt: func() time.Time { return time.Time{} }}
	decoding := collector.New(collector.Dialects(), settings, nil).Decode(&event.Stream{Source: "test", SingleRun: true}, input, "adk")
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

// adkAttempt is an attempt in the form of an ADK stream.
type adkAttempt struct {
	name, wire     string
	public, client string // the expected result for each frame: passed, or the reason why it is withheld
	why            string // where the client gets the canary
}

// adkEvent returns an event with these members in addition to its run and author.
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

// TestADKCatalogue checks the attempts of the catalogue, and those that only ADK frames make possible, against ADK's table, in
// reads of six sizes. Policy public passes no canary and loses no hello. Policy client gives the expected result: it passes
// everything that is not marked internal, and each attempt that passes a canary states why.
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

// countFrames counts the frames that passed. Each must have data only and no name.
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
