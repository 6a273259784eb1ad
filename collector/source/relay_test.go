package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
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

// wordFilter passes frames unchanged, except those whose data contains "no". It panics at "boom".
type wordFilter struct{}

func (wordFilter) Append(dst []byte, b *event.Batch) []byte {
	switch {
	case bytes.Contains(b.Frame.Data, []byte("boom")):
		panic("boom")
	case bytes.Contains(b.Frame.Data, []byte("no")) || b.Rejected != "":
		return dst
	}
	dst, _ = sse.AppendFrame(dst, sse.Frame{Data: b.Frame.Data})
	return dst
}

func (wordFilter) AppendID(dst, id []byte) []byte { return fmt.Appendf(dst, "id: %s\n\n", id) }

// ignoreLoss is a countLost function without effect.
func ignoreLoss(string, int) {}

const relayLimit = 1 << 10

func relay(body io.Reader, open bool) *filteredBody { return relayWithin(body, open, relayLimit) }

func relayWithin(body io.Reader, open bool, limit int) *filteredBody {
	c := collector.New(collector.Dialects(), collector.Settings{MaxFrame: limit, MaxJSONDepth: 64, Proof: proof.Limits{MaxText: 1 << 10, MaxFindings: 8}}, nil)
	r, s := newFilteredBody(io.NopCloser(nil), wordFilter{}, nil), &event.Stream{Source: "test"}
	if open {
		r.startUnconfirmed(body, limit, func(in io.Reader) *collector.StreamDecoder {
			return c.Decode(s, collector.Input{Reader: in, ReceivedAt: time.Now, RequireSure: true, ReportComments: true})
		})
	} else {
		r.upstream = &upstreamReader{Reader: body, now: time.Now}
		r.decoding = c.Decode(s, collector.Input{Reader: r.upstream, ReceivedAt: time.Now, ReportComments: true, BeforeGrow: r.beforeGrow}, "adk")
	}
	return r
}

const (
	yes  = `data: {"author":"a","invocationId":"e-1","n":"yes"}` + "\n\n"
	no   = `data: {"author":"a","invocationId":"e-1","n":"no"}` + "\n\n"
	boom = `data: {"author":"a","invocationId":"e-1","n":"boom"}` + "\n\n"
)

// TestRelayed checks which bytes of closed and open streams the client gets.
func TestRelayed(t *testing.T) {
	long := "data: " + strings.Repeat("x", 3*relayLimit)
	for _, test := range []struct {
		name, sent string
		open       bool
		want       string
	}{
		{"closed", yes + no + ": c\n" + yes, false, yes + ": \n\n" + yes},
		{"closed, too large", long + "\n\n" + yes, false, yes},
		{"closed, incomplete", yes + "data: {", false, yes},
		{"closed, empty", "", false, ""},
		{"closed, times as sent", "retry: 0\n" + yes + "retry: 5\n" + yes + "retry: 600000\n\n", false, "retry: 0\n\n" + yes + "retry: 5\n\n" + yes + "retry: 600000\n\n"},
		{"closed, ID alone at the end", yes + "id: 7\n\nid: 8\n\n: c\n\n", false, yes + ": \n\nid: 8\n\n"},
		{"closed, ID alone, then a frame", "id: 7\n\n" + yes, false, yes},
		{"closed, ID alone, then a withheld frame", yes + "id: 7\n\n" + no, false, yes},
		{"closed, ID alone in an unended block", yes + "id: 7\n", false, yes},
		{"closed, ID alone in a named block", yes + "event: internal\nid: 7\n\n", false, yes},
		{"closed, ID alone, then an unended frame", yes + "id: 7\n\n" + yes[:len(yes)-1], false, yes + yes},
		{"closed, ID alone, then a frame that is too large", yes + "id: 7\n\n" + long + "\n\n", false, yes},
		{"open, recognized, ID alone at the end", yes + "id: 7\n\n", true, yes + "id: 7\n\n"},
		{"open, never recognized", ": c\n:d\n\ndata: no\r\n\r\nretry: 1\n\nid: 3\n\nevent: x\ndata\n\nhalf", true, ": c\n:d\n\ndata: no\r\n\r\nretry: 1\n\nid: 3\n\nevent: x\ndata\n\nhalf"},
		{"open, recognized", "\xef\xbb\xbfdata: 1\n\n: c\n" + no + yes + ": d\n", true, "\xef\xbb\xbfdata: 1\n\n: c\n" + yes + ": \n\n"},
		{"open, too large", yes[:0] + "data: 1\n\n" + long + "\n\n" + no, true, "data: 1\n\n" + long + "\n\n"},
		{"open, too large, CRLF", long + "\r\n\r\n" + no + yes, true, long + "\r\n\r" + yes},
		{"open, too large, CR", long + "\r\r" + no + yes, true, long + "\r\r" + yes},
		{"open, endless line", long, true, long},
		{"open, too large by few bytes, internal", "event: internal:x\n" + long[:relayLimit-19] + "\n\ndata: 1\n\n" + yes, true, "data: 1\n\n" + yes},
		{"open, too large by few bytes, internal, then half a comment", "event: internal:x\n" + long[:relayLimit-19] + "\n\n: half", true, ": half"},
		{"open, too large, internal", "event: internal:x\n" + long + "\n\ndata: 1\n\n" + yes, true, "data: 1\n\n" + yes},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, body := range []io.Reader{
				strings.NewReader(test.sent), iotest.OneByteReader(strings.NewReader(test.sent)), iotest.HalfReader(strings.NewReader(test.sent)),
				iotest.DataErrReader(strings.NewReader(test.sent)),
			} {
				got, err := io.ReadAll(relay(body, test.open))
				got = bytes.Replace(got, []byte("x\r\n\r\n"), []byte("x\r\n\r"), 1) // of a long block, whether the last LF passes depends on the reads
				if err != nil || string(got) != test.want {
					t.Errorf("the client gets %.200q… of %d bytes, %v\nwant %.200q… of %d", got, len(got), err, test.want, len(test.want))
				}
			}
		})
	}
}

// TestRelayedError checks that the client gets all data before the agent's error, then the error.
func TestRelayedError(t *testing.T) {
	broken := errors.New("broken")
	for _, open := range []bool{false, true} {
		r := relay(io.MultiReader(strings.NewReader(yes+"data: ha"), iotest.ErrReader(broken)), open)
		got, err := io.ReadAll(r)
		if !errors.Is(err, broken) || string(got) != yes {
			t.Errorf("open %t: the client gets %q, %v", open, got, err)
		}
		if _, again := r.Read(make([]byte, 1)); !errors.Is(again, broken) {
			t.Errorf("open %t: the next read returns %v", open, again)
		}
	}
}

// TestRelayedFailsClosed checks that the client gets neither the frame on which the filter panics nor anything after it.
func TestRelayedFailsClosed(t *testing.T) {
	got, err := io.ReadAll(relay(strings.NewReader(yes+boom+yes), false))
	if err == nil || string(got) != yes {
		t.Errorf("the client gets %q, %v", got, err)
	}
}

// TestRelayedInPieces checks that real captures are relayed unchanged if both sides read pieces of random sizes.
func TestRelayedInPieces(t *testing.T) {
	capture, err := os.ReadFile("../dialect/adk/adkserver/testdata/captures/python/transfer.stream.sse")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		r := relay(randomReads{bytes.NewReader(capture), random}, random.IntN(2) == 0)
		r.filter = passAll{}
		got, err := io.ReadAll(randomReads{r, random})
		if err != nil || !bytes.Equal(got, capture) {
			t.Fatalf("the client gets %d of %d bytes, %v", len(got), len(capture), err)
		}
	}
}

type passAll struct{}

func (passAll) Append(dst []byte, b *event.Batch) []byte {
	dst, _ = sse.AppendFrame(dst, sse.Frame{Data: b.Frame.Data})
	return dst
}

func (passAll) AppendID(dst, _ []byte) []byte { return dst }

type randomReads struct {
	io.Reader
	random *rand.Rand
}

func (r randomReads) Read(p []byte) (int, error) { return r.Reader.Read(p[:1+r.random.IntN(len(p))]) }

// TestFilteredIsObserved checks that the observer gets each frame that was read and the stream's end, even if the client leaves.
func TestFilteredIsObserved(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		sent   string
		err    error
		read   int // bytes that the client takes before it leaves; -1 for all
		frames int
		end    event.End
	}{
		"whole":         {yes + no + ": c\n" + yes, io.EOF, -1, 3, event.EndOfStream},
		"incomplete":    {yes + "data: {", io.EOF, -1, 2, event.EndOfStream}, // the incomplete frame is rejected
		"broken":        {yes + no, broken, -1, 2, event.EndBroken},
		"client leaves": {yes + no + ": c\n" + yes, io.EOF, 5, 3, event.EndOfStream},
		"filter panics": {yes + boom + yes, io.EOF, -1, 1, event.EndBroken},
		"nothing read":  {yes, io.EOF, 0, 0, event.EndOfStream},
	} {
		t.Run(name, func(t *testing.T) {
			r := relay(io.MultiReader(strings.NewReader(c.sent), iotest.ErrReader(c.err)), false)
			r.queue = newQueue[*event.Batch](1<<20, nil, time.Now, ignoreLoss)
			if c.read < 0 {
				_, _ = io.ReadAll(r)
			} else if c.read > 0 {
				_, _ = io.ReadFull(r, make([]byte, c.read))
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			frames := 0
			for _, ok := r.queue.next(); ok; _, ok = r.queue.next() {
				frames++
			}
			if end, at := r.end(); frames != c.frames || end != c.end || at.IsZero() {
				t.Errorf("the observer gets %d frames and the end %v at %v, want %d and %v", frames, end, at, c.frames, c.end)
			}
		})
	}
}

// TestPanicAfterClose checks that the observer gets the end of a stream if decoding panics after the client has left.
func TestPanicAfterClose(t *testing.T) {
	r, frames := newFilteredBody(io.NopCloser(nil), wordFilter{}, nil), 0
	r.queue = newQueue[*event.Batch](1<<20, nil, time.Now, ignoreLoss)
	c := collector.New(collector.Dialects(), collector.Settings{MaxFrame: relayLimit, MaxJSONDepth: 64}, nil)
	r.upstream = &upstreamReader{Reader: strings.NewReader(yes + yes + yes), now: time.Now}
	r.decoding = c.Decode(&event.Stream{}, collector.Input{Reader: r.upstream, ReceivedAt: func() time.Time {
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
	if _, ok := r.queue.next(); !ok {
		t.Error("the frame that was read is not observed")
	}
	if _, ok := r.queue.next(); ok {
		t.Error("more frames are observed than were read")
	}
	if end, _ := r.end(); end != event.EndBroken {
		t.Errorf("the stream ends with %v", end)
	}
}

// TestWithheldIsObserved checks that a withheld frame is observed at once, even if the agent sends nothing more.
func TestWithheldIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, agent := io.Pipe()
		r := relay(body, false)
		r.queue = newQueue[*event.Batch](1<<20, nil, time.Now, ignoreLoss)
		go func() { _, _ = io.ReadAll(r) }()
		go func() { _, _ = io.WriteString(agent, no) }()
		observed := make(chan bool, 1)
		go func() { _, ok := r.queue.next(); observed <- ok }()
		synctest.Wait()
		select {
		case <-observed:
		default:
			t.Error("the frame is not observed before the next one")
		}
		agent.Close()
	})
}

// TestSmallBlocks checks that many small blocks that have already arrived are relayed in few reads, with each kind of
// line ending. The relay must not scan the buffer again for each block.
func TestSmallBlocks(t *testing.T) {
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
			t.Errorf("%q: the stream takes %d reads, and the last ends with %q", block, reads, last)
		}
	}
}

// TestLargeFramesAreCharged checks that a large frame is charged to the budget until a slow client has read it or has
// left. For frames of usual size, only the reused buffers may be charged.
func TestLargeFramesAreCharged(t *testing.T) {
	large := `data: {"author":"a","invocationId":"e-1","n":"` + strings.Repeat("x", 1<<20) + `"}` + "\n\n"
	for _, leaves := range []bool{false, true} {
		whole := budget.New(1)
		r := relayWithin(strings.NewReader(yes+large+strings.Repeat(yes, 100_000)), false, 4<<20)
		r.memory = NewFrameMemory(whole.Account("relays", 1, 1)).share(t.Context(), 0, nil)
		used := func() int { return int(whole.Usage()[0].Bytes) }
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
		if n := used(); n < 1<<20 || n > 3<<20 {
			t.Errorf("%d bytes are charged for a frame of %d", n, len(large))
		}
		if !leaves {
			read(len(large) + 50_000*len(yes))
			if n := used(); n > 2*maxRelayBuffer {
				t.Errorf("%d bytes are charged after the large frame", n)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if n := used(); n != 0 {
			t.Errorf("%d bytes are charged for a closed stream", n)
		}
	}
}

// TestManyComments checks that comments that arrive together are merged, and that a comment after a frame is still
// relayed.
func TestManyComments(t *testing.T) {
	const comments = 10_000
	in := strings.Repeat(":\n", comments) + "\n" + yes + ": a\n\n"
	r := relayWithin(strings.NewReader(in), false, 1<<20)
	out, err := io.ReadAll(r)
	if err != nil || len(out) > len(in) {
		t.Fatalf("%d bytes became %d, %v", len(in), len(out), err)
	}
	if !bytes.HasPrefix(out, emptyComment) || !bytes.HasSuffix(out, emptyComment) {
		t.Errorf("the comments before and after the frame are not in %.60q", out)
	}
}

// TestUnconfirmedWithoutData checks that the client of an unconfirmed stream gets blocks without data before the agent sends more.
func TestUnconfirmedWithoutData(t *testing.T) {
	for _, block := range []string{"\n", "event: ping\n\n", "id: 1\n\n", "retry: 5000\n\n", ": c\n"} {
		in, agent := io.Pipe()
		r := relay(in, true)
		go func() { _, _ = io.WriteString(agent, block) }()
		got := make([]byte, len(block))
		if _, err := io.ReadFull(r, got); err != nil || string(got) != block {
			t.Errorf("%q became %q, %v", block, got, err)
		}
		_ = agent.Close()
		_, _ = io.Copy(io.Discard, r)
	}
}

// TestQuietStream checks that a client gets empty comments while all frames of its agent are withheld.
func TestQuietStream(t *testing.T) {
	for name, test := range map[string]struct {
		frames []string // one every 4 s
		want   string
	}{
		"withheld frames":         {slices.Repeat([]string{no}, 8), strings.Repeat(": \n\n", 2)},
		"others between them":     {[]string{no, no, yes, no, no, no, yes, no}, yes + yes},
		"comments between them":   {[]string{no, no, ": c\n", no, no, no, no}, strings.Repeat(": \n\n", 2)},
		"blank lines":             {slices.Repeat([]string{"\n"}, 8), strings.Repeat(": \n\n", 2)},
		"CRLFs, then a frame":     {[]string{"\r\n", "\r\n", "\r\n", "\r\n", yes}, ": \n\n" + yes},
		"names without data":      {slices.Repeat([]string{"event: ping\n\n"}, 4), ": \n\n"},
		"times, at intervals":     {slices.Repeat([]string{"retry: 5000\n\n"}, 4), "retry: 5000\n\n: \n\n"},
		"IDs":                     {[]string{"id: 1\n\n", "id: 2\n\n", "id: 3\n\n", "id: 4\n\n", "id: 5\n\n"}, "id: 4\n\n: \n\nid: 5\n\n"},
		"a comment and its end":   {[]string{": c\n", "\n", "\n", "\n", "\n", "\n"}, ": \n\n: \n\n"},
		"the last one is unended": {[]string{no, no, no, strings.TrimSuffix(no, "\n")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, agent := io.Pipe()
				go func() {
					for _, frame := range test.frames {
						_, _ = io.WriteString(agent, frame)
						time.Sleep(4 * time.Second)
					}
					_ = agent.Close()
				}()
				if got, err := io.ReadAll(relay(in, false)); err != nil || string(got) != test.want {
					t.Errorf("the client gets %q, %v, want %q", got, err, test.want)
				}
			})
		})
	}
}

// TestArrival checks that frames that arrive in one read have the same time.
func TestArrival(t *testing.T) {
	var reads time.Duration
	u := &upstreamReader{Reader: io.MultiReader(strings.NewReader(yes+yes), strings.NewReader(yes)), now: func() time.Time { reads++; return time.Unix(0, 0).Add(reads) }}
	d := collector.New(collector.Dialects(), collector.Settings{MaxFrame: relayLimit, MaxJSONDepth: 64}, nil).
		Decode(&event.Stream{}, collector.Input{Reader: u, ReceivedAt: u.arrival}, "adk")
	for i, want := range []time.Duration{1, 1, 2} {
		if b, err := d.Next(); err != nil || !b.Received.Equal(time.Unix(0, 0).Add(want)) {
			t.Errorf("frame %d: %v, %v, want the time of read %d", i, b.Received, err, want)
		}
		d.EndTurn()
	}
}
