package readers_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// To kill for an hour: "go test ./test/e2e/readers -run TestGateways -timeout 2h -kills 1000".
var kills = flag.Int("kills", 6, "how often TestGateways kills something")

// TestGateways kills sidecars, gateways and NATS in random order and restarts them while an agent sends and readers change
// between the gateways. Every reader gets every frame once, in the order of its session. NATS never holds internal frames.
func TestGateways(t *testing.T) {
	agent := newTalker(t)
	f := newFleet(t, agent.URL, 2)
	f.start()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	random := rand.New(rand.NewPCG(12, uint64(*kills)))
	var readers []*follower
	sessions := map[string][]string{"/events": {"c1", "c2"}, "/events/c1": {"c1"}, "/events/c2": {"c2"}}
	for path := range sessions {
		for i := range 2 {
			r := &follower{path: path, next: map[string]int{}}
			readers = append(readers, r)
			running.Go(func() { r.follow(ctx, f.streams, func(n int) int { return (i + r.turn()) % n }) })
		}
	}
	for _, r := range readers {
		harness.Await(t, func(context.Context) error {
			if r.turn() == 0 {
				return errors.New("not every reader is connected")
			}
			return nil
		})
	}
	speaking, silence := context.WithCancel(ctx)
	spoken := make(chan struct{})
	running.Go(func() {
		defer close(spoken)
		for speaking.Err() == nil {
			agent.say()
			time.Sleep(3 * time.Millisecond)
		}
	})
	for i := range *kills {
		victim := f.everything[random.IntN(len(f.everything))]
		if i < len(f.everything) { // each of them once
			victim = f.everything[(i+2)%len(f.everything)]
		}
		victim.running.Kill()
		time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
		victim.start()
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
	}
	silence()
	<-spoken
	said, _ := agent.so()
	for _, r := range readers {
		harness.Await(t, func(context.Context) error {
			if !r.has(said, sessions[r.path]...) {
				return fmt.Errorf("%s has not received all of %d", r.path, said)
			}
			return nil
		})
	}
	cancel()
	running.Wait()
	for _, r := range readers {
		if r.fail != "" || len(r.gaps) > 0 {
			t.Errorf("%s: %s; gaps %q", r.path, r.fail, r.gaps)
		}
		t.Logf("%s connected %d times and received %v", r.path, r.came, r.next)
	}
	searchNATS(t, f.natsURL, 2*said)
}

// turn returns how often a follower has connected.
func (f *follower) turn() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.came
}

// searchNATS reads all messages of the stream, and checks their number, that all differ, and that none is internal.
func searchNATS(t *testing.T, url string, want int) {
	t.Helper()
	connection, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	jet, err := jetstream.New(connection)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := jet.OrderedConsumer(t.Context(), "DELEGRAPH", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for pending := uint64(1); pending > 0; {
		batch, err := consumer.Fetch(1000, jetstream.FetchMaxWait(5*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		for m := range batch.Messages() {
			about, err := m.Metadata()
			if err != nil {
				t.Fatal(err)
			}
			pending = about.NumPending
			id := m.Headers().Get(jetstream.MsgIDHeader)
			if ids[id] {
				t.Errorf("%s was published twice", id)
			}
			ids[id] = true
			if whole := fmt.Append(nil, m.Headers(), m.Subject(), string(m.Data())); bytes.Contains(whole, []byte(internal)) || bytes.Contains(whole, []byte("internal:")) {
				t.Fatalf("in NATS: %s", whole)
			}
		}
		if batch.Error() != nil {
			t.Fatal(batch.Error())
		}
	}
	if len(ids) != want {
		t.Errorf("NATS held %d messages, not %d", len(ids), want)
	}
}
