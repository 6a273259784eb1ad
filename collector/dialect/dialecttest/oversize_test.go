package dialecttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

type noCounters struct{}

func (noCounters) CountWithheld(string, filter.Reason) {}
func (noCounters) CountRemovedID(string)               {}

// smallFrame is a small limit of a frame's size in bytes.
const smallFrame = 1 << 10

// relayStream returns a stream as its client gets it, and the batch of the last frame.
func relayStream(t *testing.T, name string, policy event.Policy, maxFrame int, sent string) (got string, last *event.Batch) {
	t.Helper()
	settings := collector.Settings{MaxFrame: maxFrame, MaxJSONDepth: 64}
	input := collector.Input{Reader: strings.NewReader(sent), ReceivedAt: func() time.Time { return time.Time{} }}
	d := collector.New(collector.Dialects(), settings, nil).Decode(&event.Stream{Dialect: name}, input, name)
	relay := filter.NewRelay(filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed}, noCounters{})
	var out []byte
	for b, err := d.Next(); err == nil; b, err = d.Next() {
		out, last = relay.Append(out, b), d.Detach()
	}
	return string(out), last
}

// notices are the dialects whose clients stop at an error, although the run may go on. Their clients get a
// notice that no reader takes for a fact.
var notices = []string{"adk", "agui"}

// TestOversize checks what happens to a frame over the size limit. Under the policy client it is replaced
// by an error of its protocol or by a notice. Under the policy public it is dropped.
func TestOversize(t *testing.T) {
	for _, d := range collector.Dialects() {
		t.Run(d.Name(), func(t *testing.T) {
			if d.Table().OversizeData == "" {
				t.Fatalf("Table.OversizeData is empty; set it to an error of the protocol with event.OversizeMessage")
			}
			large := "data: " + strings.Repeat(canary, 1<<10) + "\n\n"
			got, _ := relayStream(t, d.Name(), event.PolicyClient, smallFrame, large)
			if !strings.Contains(got, event.OversizeMessage) || strings.Contains(got, canary) || strings.Count(got, "\n\n") != 1 {
				t.Fatalf("the client gets %.200q, want one frame with %q", got, event.OversizeMessage)
			}
			again, b := relayStream(t, d.Name(), event.PolicyClient, smallFrame, got)
			if again != got {
				t.Errorf("relayed again, %q becomes %q, want it unchanged", got, again)
			}
			if notice := slices.Contains(notices, d.Name()); b.Rejected != "" || hasError(b) == notice || notice && statesFact(b) {
				t.Errorf("Table.OversizeData must decode to an event of the kind error, or that of a notice to none; %q is rejected for %q and has the events %v", got, b.Rejected, b.Events)
			}
			if got, _ := relayStream(t, d.Name(), event.PolicyPublic, smallFrame, large); got != "" {
				t.Errorf("a client under the policy public gets %.200q, want nothing", got)
			}
		})
	}
}

// TestTooManyFacts checks that a frame within the size limit, but with more facts than are decoded, is replaced as one over the
// limit is. One that says that it is internal is not replaced.
func TestTooManyFacts(t *testing.T) {
	for name, frame := range map[string]string{
		"adk":    `data: {"author":"a","invocationId":"e-1","id":"i"%[1]s,"content":{"role":"model","parts":[{"text":"a"}%[2]s]}}`,
		"openai": "event: response.completed\n" + `data: {"type":"response.completed","sequence_number":1%[1]s,"response":{"id":"r","object":"response","status":"completed","output":[{"type":"message","id":"m"}%[2]s]}}`,
		"a2a":    `data: {"jsonrpc":"2.0","id":"1","result":{"kind":"artifact-update","taskId":"t","contextId":"c"%[1]s,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"x"}%[2]s]}}}`,
	} {
		element := map[string]string{
			"adk":    `,{"text":"a"}`,
			"openai": `,{"type":"message","id":"m0","role":"assistant","status":"completed","content":[{"type":"output_text","text":"x","annotations":[]}]}`,
			"a2a":    `,{"kind":"text","text":"x"}`,
		}[name]
		many := strings.Repeat(element, event.MaxEvents)
		got, _ := relayStream(t, name, event.PolicyClient, len(many)+smallFrame, fmt.Sprintf(frame, "", many)+"\n\n")
		if !strings.Contains(got, event.OversizeMessage) || strings.Count(got, "\n\n") != 1 {
			t.Errorf("%s: the client gets %.200q, want one frame with %q", name, got, event.OversizeMessage)
		}
		got, _ = relayStream(t, name, event.PolicyClient, len(many)+smallFrame, fmt.Sprintf(frame, `,"metadata":{"kind":"internal:x"},"customMetadata":{"kind":"internal:x"},"kind":"internal:x"`, many)+"\n\n")
		if got != "" {
			t.Errorf("%s: of an internal event, the client gets %.200q", name, got)
		}
	}
}

func statesFact(b *event.Batch) bool {
	return slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind != event.KindOther })
}

func hasError(b *event.Batch) bool {
	for i := range b.Events {
		if b.Events[i].Kind == event.KindError || b.Events[i].Error != event.NoFailure {
			return true
		}
	}
	return false
}
