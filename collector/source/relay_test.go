package source

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/sse"
)

// judge lets a frame out as it is, unless its data has the word "no"; "boom" makes it panic.
type judge struct{}

func (judge) Append(dst []byte, b *event.Batch) []byte {
	switch {
	case bytes.Contains(b.Frame.Data, []byte("boom")):
		panic("boom")
	case bytes.Contains(b.Frame.Data, []byte("no")) || b.Rejected != "":
		return dst
	}
	dst, _ = sse.AppendFrame(dst, sse.Frame{Data: b.Frame.Data})
	return dst
}

// unnoticed is for queues whose losses are no matter.
func unnoticed(string, int) {}

const relayLimit = 1 << 10

func relay(body io.Reader, open bool) *relayed { return relayWithin(body, open, relayLimit) }

func relayWithin(body io.Reader, open bool, limit int) *relayed {
	c := collector.New(collector.Dialects(), collector.Settings{Frame: limit, JSONDepth: 64, Proof: proof.Limits{Text: 1 << 10, Findings: 8}}, nil)
	r, s := newRelayed(io.NopCloser(nil), judge{}, nil), &event.Stream{Source: "test"}
	if open {
		r.open(body, limit, func(in io.Reader) *collector.Decoding {
			return c.Decode(s, collector.Input{Reader: in, Arrival: time.Now, Sure: true, Comments: true})
		})
	} else {
		r.upstream = &counting{Reader: body}
		r.decoding = c.Decode(s, collector.Input{Reader: r.upstream, Arrival: time.Now, Comments: true}, "adk")
	}
	return r
}

const (
	yes  = `data: {"author":"a","invocationId":"e-1","n":"yes"}` + "\n\n"
	no   = `data: {"author":"a","invocationId":"e-1","n":"no"}` + "\n\n"
	boom = `data: {"author":"a","invocationId":"e-1","n":"boom"}` + "\n\n"
)

func TestRelayed(t *testing.T) {
	long := "data: " + strings.Repeat("x", 3*relayLimit)
	for _, test := range []struct {
		name, sent string
		open       bool
		want       string
	}{
		{"closed", yes + no + ": c\n" + yes, false, yes + ": \n\n" + yes},
		{"closed, too large", long + "\n\n" + yes, false, yes},
		{"closed, half", yes + "data: {", false, yes},
		{"closed, nothing", "", false, ""},
		{"open, never decided", ": c\n:d\n\ndata: no\r\n\r\nretry: 1\n\nid: 3\n\nevent: x\ndata\n\nhalf", true, ": c\n:d\n\ndata: no\r\n\r\nretry: 1\n\nid: 3\n\nevent: x\ndata\n\nhalf"},
		{"open, decided", "\xef\xbb\xbfdata: 1\n\n: c\n" + no + yes + ": d\n", true, "\xef\xbb\xbfdata: 1\n\n: c\n" + yes + ": \n\n"},
		{"open, too large", yes[:0] + "data: 1\n\n" + long + "\n\n" + no, true, "data: 1\n\n" + long + "\n\n"},
		{"open, too large, CRLF", long + "\r\n\r\n" + no + yes, true, long + "\r\n\r" + yes}, // an end all the same: the LF went with the frame
		{"open, too large, CR", long + "\r\r" + no + yes, true, long + "\r\r" + yes},
		{"open, endless line", long, true, long},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, body := range []io.Reader{
				strings.NewReader(test.sent), iotest.OneByteReader(strings.NewReader(test.sent)), iotest.HalfReader(strings.NewReader(test.sent)),
				iotest.DataErrReader(strings.NewReader(test.sent)),
			} {
				got, err := io.ReadAll(relay(body, test.open))
				if err != nil || string(got) != test.want {
					t.Errorf("%.200q… of %d bytes, %v\nwant %.200q… of %d", got, len(got), err, test.want, len(test.want))
				}
			}
		})
	}
}

// TestRelayedEndsAsTheAgentDid passes the agent's error on, after what came before it.
func TestRelayedEndsAsTheAgentDid(t *testing.T) {
	broken := errors.New("broken")
	for _, open := range []bool{false, true} {
		r := relay(io.MultiReader(strings.NewReader(yes+"data: ha"), iotest.ErrReader(broken)), open)
		got, err := io.ReadAll(r)
		if !errors.Is(err, broken) || string(got) != yes {
			t.Errorf("open %v: %q, %v", open, got, err)
		}
		if _, again := r.Read(make([]byte, 1)); !errors.Is(again, broken) {
			t.Errorf("open %v: then %v", open, again)
		}
	}
}

// TestRelayedFailsClosed has the judge panic: nothing of the frame or after it leaves, and the process goes on.
func TestRelayedFailsClosed(t *testing.T) {
	got, err := io.ReadAll(relay(strings.NewReader(yes+boom+yes), false))
	if err == nil || string(got) != yes {
		t.Errorf("%q, %v", got, err)
	}
}

// TestRelayedTakesAnyReads reads real captures in random sizes on both sides.
func TestRelayedTakesAnyReads(t *testing.T) {
	capture, err := os.ReadFile("../dialect/adk/adkserver/testdata/captures/python/transfer.stream.sse")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		r := relay(randomReads{bytes.NewReader(capture), random}, random.IntN(2) == 0)
		r.judge = letAll{}
		got, err := io.ReadAll(randomReads{r, random})
		if err != nil || !bytes.Equal(got, capture) {
			t.Fatalf("%d of %d bytes, %v", len(got), len(capture), err)
		}
	}
}

type letAll struct{}

func (letAll) Append(dst []byte, b *event.Batch) []byte {
	dst, _ = sse.AppendFrame(dst, sse.Frame{Data: b.Frame.Data})
	return dst
}

type randomReads struct {
	io.Reader
	random *rand.Rand
}

func (r randomReads) Read(p []byte) (int, error) { return r.Reader.Read(p[:1+r.random.IntN(len(p))]) }

// TestJudgedIsObserved has the observer get every frame that was read, and how the stream ended, whatever became of its client.
func TestJudgedIsObserved(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		sent   string
		end    error
		read   int // bytes that the client takes before it leaves; -1 for all
		frames int
		how    event.End
	}{
		"whole":          {yes + no + ": c\n" + yes, io.EOF, -1, 3, event.EndOfStream},
		"half":           {yes + "data: {", io.EOF, -1, 2, event.EndOfStream}, // the half is a frame that is rejected
		"broken off":     {yes + no, broken, -1, 2, event.EndBroken},
		"client leaves":  {yes + no + ": c\n" + yes, io.EOF, 5, 3, event.EndOfStream},
		"judge panics":   {yes + boom + yes, io.EOF, -1, 1, event.EndBroken},
		"nothing is had": {yes, io.EOF, 0, 0, event.EndOfStream},
	} {
		t.Run(name, func(t *testing.T) {
			r := relay(io.MultiReader(strings.NewReader(c.sent), iotest.ErrReader(c.end)), false)
			r.queue = newQueue[*event.Batch](1<<20, nil, time.Now, unnoticed)
			if c.read < 0 {
				_, _ = io.ReadAll(r)
			} else if c.read > 0 {
				_, _ = io.ReadFull(r, make([]byte, c.read))
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			frames := 0
			for _, ok := r.queue.take(); ok; _, ok = r.queue.take() {
				frames++
			}
			if how, at := r.end(); frames != c.frames || how != c.how || at.IsZero() {
				t.Errorf("%d frames, end %v at %v; want %d, %v", frames, how, at, c.frames, c.how)
			}
		})
	}
}

// TestCloseSurvives has what is read of a stream after its client left panic: the observer learns that the stream is over.
func TestCloseSurvives(t *testing.T) {
	r, frames := newRelayed(io.NopCloser(nil), judge{}, nil), 0
	r.queue = newQueue[*event.Batch](1<<20, nil, time.Now, unnoticed)
	c := collector.New(collector.Dialects(), collector.Settings{Frame: relayLimit, JSONDepth: 64}, nil)
	r.upstream = &counting{Reader: strings.NewReader(yes + yes + yes)}
	r.decoding = c.Decode(&event.Stream{}, collector.Input{Reader: r.upstream, Arrival: func() time.Time {
		if frames++; frames > 1 {
			panic("a fault of ours")
		}
		return time.Now()
	}}, "adk")
	if _, err := io.ReadFull(r, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.queue.take(); !ok {
		t.Error("the frame that was read is not observed")
	}
	if _, ok := r.queue.take(); ok {
		t.Error("there is more than was read")
	}
	if how, _ := r.end(); how != event.EndBroken {
		t.Errorf("ended as %v", how)
	}
}

// TestWithheldIsObserved has the observer get a frame of which the client gets nothing, and the agent silent after it.
func TestWithheldIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, agent := io.Pipe()
		r := relay(body, false)
		r.queue = newQueue[*event.Batch](1<<20, nil, time.Now, unnoticed)
		go func() { _, _ = io.ReadAll(r) }()
		go func() { _, _ = io.WriteString(agent, no) }()
		observed := make(chan bool, 1)
		go func() { _, ok := r.queue.take(); observed <- ok }()
		synctest.Wait()
		select {
		case <-observed:
		default:
			t.Error("the frame waits for the next one")
		}
		agent.Close()
	})
}

// TestSmallBlocksGoOutTogether relays many small blocks that have already arrived. The relay must write them in few calls, with every
// kind of line ending, and must not scan the buffer again for each block.
func TestSmallBlocksGoOutTogether(t *testing.T) {
	const blocks, most = 50_000, 100
	for _, block := range []string{":\n", ":\n\n", ":\r\n\r\n", ":\r\r", "event: x\n\n", "retry: 1\n", "\n", "data: {\n\n", "id: 1\r\n\r\n"} {
		src := relay(strings.NewReader(yes+strings.Repeat(block, blocks)+"\n"+yes), false)
		reads, buffer, last := 0, make([]byte, 32<<10), ""
		for {
			n, err := src.Read(buffer)
			if n > 0 {
				reads, last = reads+1, string(buffer[max(0, n-len(yes)):n])
			}
			if err != nil {
				break
			}
		}
		if reads > most || last != yes {
			t.Errorf("%q: %d reads, the last ends with %q", block, reads, last)
		}
	}
}

// TestLargeFramesAreHeld has the budget know of what a large frame takes on its way to a slow client, and no more when it is through or
// the client is gone. A usual frame counts for nothing.
func TestLargeFramesAreHeld(t *testing.T) {
	large := `data: {"author":"a","invocationId":"e-1","n":"` + strings.Repeat("x", 1<<20) + `"}` + "\n\n"
	for _, leaves := range []bool{false, true} {
		whole := budget.New(1)
		r := relayWithin(strings.NewReader(yes+large+strings.Repeat(yes, 100_000)), false, 4<<20)
		r.memory = whole.Account("relays", 1, 1)
		used := func() int { return int(whole.Uses()[0].Bytes) }
		buffer := make([]byte, 32<<10)
		read := func(n int) {
			for n > 0 {
				got, err := r.Read(buffer)
				if n -= got; err != nil {
					t.Fatal(err)
				}
			}
		}
		read(1)
		read(1 << 19)
		if n := used(); n < 1<<20 || n > 8<<20 {
			t.Errorf("%d bytes are held for a frame of %d", n, len(large))
		}
		if !leaves {
			read(len(large) + 50_000*len(yes))
			if n := used(); n != 0 {
				t.Errorf("%d bytes are held after the large frame", n)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if n := used(); n != 0 {
			t.Errorf("%d bytes are held of a stream that is closed", n)
		}
	}
}
