package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repeated gives text over and over, count times, without holding it.
type repeated struct {
	text  string
	count int
	at    int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) && r.count > 0 {
		c := copy(p[n:], r.text[r.at:])
		n += c
		if r.at += c; r.at == len(r.text) {
			r.at = 0
			r.count--
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestEndlessBlocks(t *testing.T) {
	const limit, count = 200_000, 1 << 20
	for _, tc := range []struct{ name, text, end string }{
		{"one line", "data:xx", "\n\n"},
		{"unknown line", "x", "\n\n"},
		{"comment", ":xx", "\r\r"},
		{"comments", ":\n", "\n"},
		{"empty data", "data\n", "\n"},
		{"data, CR", "data:x\r", "\r"},
		{"data, CRLF", "data:x\r\n", "\n"},
		{"ids", "id:12\r", "\r"},
		{"events", "event:12\n", "\r"},
		{"retries", "retry:12\r\n", "\r"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			first, end, last := "id:0\nretry:1000\ndata:before\n\n", tc.end, "data:after\n\n"
			src := &peak{src: io.MultiReader(strings.NewReader(first), &repeated{text: tc.text, count: count}, strings.NewReader(end+last))}
			r := NewReader(src, limit)
			src.r = r
			next(t, r, "before", "0")
			_, err := r.Next()
			var tooLarge *TooLargeError
			if !errors.As(err, &tooLarge) {
				t.Fatalf("got %v", err)
			}
			if want := (TooLargeError{Limit: limit, Size: len(tc.text)*count + len(end)}); *tooLarge != want {
				t.Errorf("got %+v, want %+v", *tooLarge, want)
			}
			if msg := err.Error(); !strings.Contains(msg, fmt.Sprint(tooLarge.Size)) || !strings.Contains(msg, fmt.Sprint(limit)) {
				t.Errorf("message %q lacks the figures", msg)
			}
			if most := 3 * limit; src.most > most || src.buffer > limit+1 {
				t.Errorf("held %d bytes, %d of them buffer", src.most, src.buffer)
			}
			next(t, r, "after", "0")
			if n := r.Held(); n > burstBuffer+4*maxResumeID {
				t.Errorf("still holds %d bytes", n)
			}
			if retry, _ := r.Retry(); r.LastEventID() != "0" || retry.Seconds() != 1 {
				t.Errorf("the skipped block acted: id %q, retry %v", r.LastEventID(), retry)
			}
			if _, err := r.Next(); err != io.EOF || r.Truncated() != 0 {
				t.Errorf("at the end: %v, truncated %d", err, r.Truncated())
			}
		})
	}
}

// peak notes what a Reader held when it asked for bytes: at most, and last.
type peak struct {
	src                io.Reader
	r                  *Reader
	most, last, buffer int
}

func (p *peak) Read(b []byte) (int, error) {
	p.last = p.r.Held()
	p.most = max(p.most, p.last)
	p.buffer = max(p.buffer, len(p.r.buf))
	return p.src.Read(b)
}

func TestLimitIsExact(t *testing.T) {
	for _, wire := range []string{
		"data:abc\n\n", "data:abc\r\r", "data:abc\r\n\r\n", ":c\ndata\nid:1\nevent:x\n\n", "data:a\rdata:b\r\n\r\n",
	} {
		whole, _ := oracle(wire, DefaultLimit)
		size := whole.Results[0].Size
		for limit := 1; limit <= size+1; limit++ {
			stream := "id:0\n\n" + wire + "data:z\n\n" + wire
			checkSplits(t, stream, limit, nil, []int{1}, []int{2}, []int{3})
			got := drain(t, &splitReader{stream: wire}, limit, nil)
			if tooLarge := got.Results[0].TooLarge; tooLarge != (limit < size) {
				t.Errorf("%q of %d bytes, limit %d: too large is %v", wire, size, limit, tooLarge)
			}
		}
	}
}

func TestSkippedBlockAtTheEnd(t *testing.T) {
	want := outcome{Results: []result{{TooLarge: true, Size: 20}}}
	for _, stream := range []string{"data:aaaaaaaaaaaaaaa", "id:1\nretry:1\nid:2222", "data:a\r\ndata:aaaaaaaa\r"[:20]} {
		got := drain(t, &splitReader{stream: stream, sizes: []int{3}}, 10, nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", stream, diff)
		}
	}
}

func TestBigFrameLeavesNoMemory(t *testing.T) {
	big := strings.Repeat("x", 5<<20)
	for _, wire := range []string{
		"data:" + big + "\n\n",
		"event:" + big + "\ndata:x\n\n",
		"id:" + big + "\ndata:x\n\nid:0\n\n",
		strings.Repeat("data:x\n", 700_000) + "\n",
	} {
		src := &peak{src: strings.NewReader(wire + strings.Repeat("data:y\n\n", 1000))}
		r := NewReader(src, 0)
		src.r = r
		for i := range 1001 {
			f, err := r.Next()
			if err != nil || i > 0 && string(f.Data) != "y" {
				t.Fatalf("frame %d: %v", i, err)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatal(err)
		}
		if src.most < 5<<20 || src.last > 4*firstBuffer {
			t.Errorf("held %d bytes, and %d when it waited for more after %.10q…", src.most, src.last, wire)
		}
	}
}

// TestBufferFollowsBursts has a stream whose frames come singly, and one that has as much ready as is asked for.
func TestBufferFollowsBursts(t *testing.T) {
	const frames = 10_000
	frame := "data:" + strings.Repeat("x", 500) + "\n\n"
	for _, stream := range []struct {
		name   string
		ready  int // bytes at most
		buffer int
	}{{"singly", len(frame), firstBuffer}, {"burst", 1 << 20, burstBuffer}} {
		r := NewReader(&splitReader{stream: strings.Repeat(frame, frames), sizes: []int{stream.ready}}, 0)
		for range frames {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.buf) != stream.buffer {
			t.Errorf("%s: a buffer of %d bytes, want %d", stream.name, len(r.buf), stream.buffer)
		}
	}
}

func TestBytesBehindABigFrameStay(t *testing.T) {
	for size := 2 * keepBuffer; size < 2*keepBuffer+16; size++ { // so that reads end at any place in a frame
		wire := []byte("data:" + strings.Repeat("x", size) + "\n\n")
		for i := range 20_000 {
			wire = fmt.Appendf(wire, "data:%d\n\n", i)
		}
		r := NewReader(bytes.NewReader(wire), 0)
		if f, err := r.Next(); err != nil || len(f.Data) != size {
			t.Fatalf("%d bytes, %v", len(f.Data), err)
		}
		for i := range 20_000 {
			next(t, r, fmt.Sprint(i), "")
		}
		if cap(r.buf) > keepBuffer {
			t.Errorf("still has a buffer of %d bytes", cap(r.buf))
		}
	}
}
