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

// repeatReader reads a text count times without keeping it in memory.
type repeatReader struct {
	text  string
	count int
	at    int
}

func (r *repeatReader) Read(p []byte) (n int, err error) {
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

// TestEndlessBlocks checks that a block over the limit is skipped in limited memory and changes no other state.
func TestEndlessBlocks(t *testing.T) {
	const limit, count = 200_000, 1 << 20
	for _, tc := range []struct{ name, text, end string }{
		{"one line", "data:xx", "\n\n"},
		{"unknown line", "x", "\n\n"},
		{"empty data", "data\n", "\n"},
		{"data, CR", "data:x\r", "\r"},
		{"data, CRLF", "data:x\r\n", "\n"},
		{"ids", "id:12\r", "\r"},
		{"events", "event:12\n", "\r"},
		{"retries", "retry:12\r\n", "\r"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			first, end, last := "id:0\nretry:1000\ndata:before\n\n", tc.end, "data:after\n\n"
			src := &memoryRecorder{src: io.MultiReader(strings.NewReader(first), &repeatReader{text: tc.text, count: count}, strings.NewReader(end+last))}
			r := NewReader(src, limit)
			src.r = r
			next(t, r, "before", "0")
			_, err := r.Next()
			var tooLarge *TooLargeError
			if !errors.As(err, &tooLarge) {
				t.Fatalf("Next = %v, want a TooLargeError", err)
			}
			if want := (TooLargeError{Limit: limit, Size: len(tc.text)*count + len(end)}); *tooLarge != want {
				t.Errorf("the error is %+v, want %+v", *tooLarge, want)
			}
			if msg := err.Error(); !strings.Contains(msg, fmt.Sprint(tooLarge.Size)) || !strings.Contains(msg, fmt.Sprint(limit)) {
				t.Errorf("the message %q does not have the size and the limit", msg)
			}
			if allowed := 3 * limit; src.max > allowed || src.buffer > limit+1 {
				t.Errorf("the reader keeps up to %d bytes, %d of them in the buffer", src.max, src.buffer)
			}
			next(t, r, "after", "0")
			if n := r.MemorySize(); n > burstBuffer+4*maxResumeID {
				t.Errorf("the reader still keeps %d bytes", n)
			}
			if retry, _ := r.Retry(); r.LastEventID() != "0" || retry.Seconds() != 1 {
				t.Errorf("after the skipped block, the id is %q and the retry time %v", r.LastEventID(), retry)
			}
			if _, err := r.Next(); err != io.EOF || r.TruncatedBytes() != 0 {
				t.Errorf("at the end, Next() = %v with %d truncated bytes", err, r.TruncatedBytes())
			}
		})
	}
}

// memoryRecorder records how many bytes a Reader keeps when it reads: the maximum, and at the last read.
type memoryRecorder struct {
	src               io.Reader
	r                 *Reader
	max, last, buffer int
}

func (p *memoryRecorder) Read(b []byte) (int, error) {
	p.last = p.r.MemorySize()
	p.max = max(p.max, p.last)
	p.buffer = max(p.buffer, len(p.r.buf))
	return p.src.Read(b)
}

// TestLimitIsExact checks that a frame of exactly the limit is returned and a larger one is not.
func TestLimitIsExact(t *testing.T) {
	for _, wire := range []string{
		"data:abc\n\n", "data:abc\r\r", "data:abc\r\n\r\n", ":c\r\ndata\n:c\nid:1\n\n", ":c\ndata\nid:1\nevent:x\n\n", "data:a\rdata:b\r\n\r\n",
	} {
		whole, _ := oracle(wire, DefaultLimit)
		size := whole.Results[0].Size
		for limit := 1; limit <= size+1; limit++ {
			stream := "id:0\n\n" + wire + "data:z\n\n" + wire
			checkSplits(t, stream, limit, nil, []int{1}, []int{2}, []int{3})
			got := drain(t, &splitReader{stream: wire}, limit, nil)
			if tooLarge := got.Results[0].TooLarge; tooLarge != (limit < size) {
				t.Errorf("with a limit of %d, the frame %q of %d bytes is too large: %t", limit, wire, size, tooLarge)
			}
		}
	}
}

// TestCommentsBeforeFrame checks that comments do not count towards the limit of the frame after them, also if
// no blank line is between them or a single comment exceeds the limit, and that they take no memory.
func TestCommentsBeforeFrame(t *testing.T) {
	const limit, count = 200_000, 1 << 20
	for _, comments := range []struct {
		text, end string
		reported  int
	}{{":\n", "", count}, {":c\r\n", "", count}, {":xx", "\r", 1}, {":xx", "\r\n", 1}} {
		for _, report := range []bool{false, true} {
			src := &memoryRecorder{src: io.MultiReader(&repeatReader{text: comments.text, count: count}, strings.NewReader(comments.end+"id:1\ndata:a\n\n"))}
			r := NewReader(src, limit)
			src.r = r
			r.ReportComments(report)
			f, err := r.Next()
			n := 0
			for ; errors.Is(err, ErrComment); n++ {
				f, err = r.Next()
			}
			if err != nil || string(f.Data) != "a" || string(f.ID) != "1" || f.Size != 13 {
				t.Errorf("after comments %q: the frame is %+v, %v", comments.text, f, err)
			}
			if report && n != comments.reported || r.Offset() != int64(len(comments.text)*count+len(comments.end)+13) {
				t.Errorf("%d comments %q are reported, and the frame ends at %d", n, comments.text, r.Offset())
			}
			if src.max > 3*limit {
				t.Errorf("the reader keeps up to %d bytes", src.max)
			}
		}
	}
}

// TestSkippedBlockAtTheEnd checks that the end of the stream ends a block over the limit.
func TestSkippedBlockAtTheEnd(t *testing.T) {
	want := outcome{Results: []result{{TooLarge: true, Size: 20}}}
	for _, stream := range []string{"data:aaaaaaaaaaaaaaa", "id:1\nretry:1\nid:2222", "data:a\r\ndata:aaaaaaaa\r"[:20]} {
		got := drain(t, &splitReader{stream: stream, sizes: []int{3}}, 10, nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("reading %q differs (-want +got):\n%s", stream, diff)
		}
	}
}

// TestBlankLineAfterSkippedBlock checks that a blank line after a block over the limit is reported, also if a comment precedes the
// block.
func TestBlankLineAfterSkippedBlock(t *testing.T) {
	for _, before := range []string{"", ":\n", ":\n\n"} {
		r := NewReader(strings.NewReader(before+"data:aaaaaaaaaaaa\n\n\n"), 10)
		r.ReportComments(true)
		var last, err error
		for ; err != io.EOF; _, err = r.Next() {
			last = err
		}
		if last != ErrNoData {
			t.Errorf("after %q, the last result is %v", before, last)
		}
	}
}

// TestLargeFrameIsReleased checks that the reader does not keep the memory of a large frame.
func TestLargeFrameIsReleased(t *testing.T) {
	big := strings.Repeat("x", 5<<20)
	for _, wire := range []string{
		"data:" + big + "\n\n",
		"event:" + big + "\ndata:x\n\n",
		"id:" + big + "\ndata:x\n\nid:0\n\n",
		strings.Repeat("data:x\n", 700_000) + "\n",
	} {
		src := &memoryRecorder{src: strings.NewReader(wire + strings.Repeat("data:y\n\n", 1000))}
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
		if src.max < 5<<20 || src.last > 4*minBuffer {
			t.Errorf("the reader keeps up to %d bytes, and %d while it waits for more after %.10q…", src.max, src.last, wire)
		}
	}
}

// TestBufferSize checks the buffer's size for a stream with single frames and for one that always has enough
// bytes ready.
func TestBufferSize(t *testing.T) {
	const frames = 10_000
	frame := "data:" + strings.Repeat("x", 500) + "\n\n"
	for _, stream := range []struct {
		name   string
		ready  int // the maximum number of bytes of a read
		buffer int
	}{{"singly", len(frame), minBuffer}, {"burst", 1 << 20, burstBuffer}} {
		r := NewReader(&splitReader{stream: strings.Repeat(frame, frames), sizes: []int{stream.ready}}, 0)
		for range frames {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.buf) != stream.buffer {
			t.Errorf("%s: the buffer has %d bytes, want %d", stream.name, len(r.buf), stream.buffer)
		}
	}
}

// TestBytesAfterLargeFrame checks that frames that follow a large one are not lost when the buffer shrinks.
func TestBytesAfterLargeFrame(t *testing.T) {
	for size := 2 * maxIdleBuffer; size < 2*maxIdleBuffer+16; size++ { // so that reads end at any byte of a frame
		wire := []byte("data:" + strings.Repeat("x", size) + "\n\n")
		for i := range 20_000 {
			wire = fmt.Appendf(wire, "data:%d\n\n", i)
		}
		r := NewReader(bytes.NewReader(wire), 0)
		if f, err := r.Next(); err != nil || len(f.Data) != size {
			t.Fatalf("the large frame has %d bytes, %v", len(f.Data), err)
		}
		for i := range 20_000 {
			next(t, r, fmt.Sprint(i), "")
		}
		if cap(r.buf) > maxIdleBuffer {
			t.Errorf("the reader still has a buffer of %d bytes", cap(r.buf))
		}
	}
}
