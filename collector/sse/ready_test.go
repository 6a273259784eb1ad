package sse

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// readCounter counts the reads of a source.
type readCounter struct {
	src   io.Reader
	reads int
}

func (c *readCounter) Read(p []byte) (int, error) { c.reads++; return c.src.Read(p) }

// TestReady compares Ready before each call of Next with the reads of the source during the call. If Next does
// not read, Ready may be false only for the byte order mark and for frames over the limit.
func TestReady(t *testing.T) {
	lines := []string{"data: x", "data", "datax: y", ": c", ":", "", "", "id: 1", "event: x", "retry: 5", "data:", "dat"}
	ends := []string{"\n", "\r", "\r\n"}
	random := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		var wire strings.Builder
		end := ends[random.IntN(3)]
		for range random.IntN(40) {
			if random.IntN(8) == 0 {
				end = ends[random.IntN(3)]
			}
			wire.WriteString(lines[random.IntN(len(lines))] + end)
		}
		sizes := []int{1 + random.IntN(60), 1 + random.IntN(9)}
		src := &readCounter{src: &splitReader{stream: wire.String(), sizes: sizes}}
		r := NewReader(src, 0)
		r.ReportComments(random.IntN(2) == 0)
		for err := error(nil); err == nil || errors.Is(err, ErrComment); {
			ready, before := r.Ready(), src.reads
			if random.IntN(2) == 0 && r.Ready() != ready {
				t.Fatalf("%q: the second call of Ready() is not %t", wire.String(), ready)
			}
			_, err = r.Next()
			if waited := src.reads > before; ready == waited {
				t.Fatalf("%q in pieces of %v: Ready() = %t, but Next reads %d times, at offset %d", wire.String(), sizes, ready, src.reads-before, r.Offset())
			}
		}
	}
}

// BenchmarkReady calls Ready after each result, as a relay does. It reads each stream at two lengths: similar
// MB/s show that the time is linear. A large first frame makes the buffer as large as possible.
func BenchmarkReady(b *testing.B) {
	for _, shape := range []struct{ name, wire, end string }{
		{"empty comments", ":\n\n", "data:x\n\n"},
		{"comment lines", ":\n", "data:x\n\n"},
		{"comment lines, CRLF", ":\r\n", "data:x\r\n\r\n"},
		{"empty events", "event:x\n\n", "data:x\n\n"},
		{"blank lines", "\n", "data:x\n\n"},
		{"retry lines", "retry:1\n", "data:x\n\n"},
		{"frames", "data:x\n\n", ""},
		{"frames, CR", "data:x\r\r", ""},
		{"frames and comments, CR", ":\r\rdata:x\r\r", ""},
		{"data lines", "data:x\n", "\n"},
	} {
		for _, size := range []int{400_000, 4_000_000} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, size), func(b *testing.B) {
				wire := "data:" + strings.Repeat("x", 5_000_000) + "\n\n" + strings.Repeat(shape.wire, size/len(shape.wire)) + shape.end
				for b.Loop() {
					b.StopTimer()
					r := NewReader(strings.NewReader(wire), 0)
					r.ReportComments(true)
					_, err := r.Next()
					b.StartTimer()
					for err == nil || errors.Is(err, ErrComment) {
						r.Ready()
						_, err = r.Next()
					}
				}
				b.SetBytes(int64(size))
			})
		}
	}
}

// TestReadyForLongComment checks that Ready announces a comment over the limit: Next returns at its end.
func TestReadyForLongComment(t *testing.T) {
	const limit = 10
	for length := limit - 1; length <= limit+1; length++ {
		first := "data: a\n\n:" + strings.Repeat("x", length-1) + "\n"
		src := &readCounter{src: &splitReader{stream: first + ": b\ndata: c\n\ndata: d\n\n", sizes: []int{len(first), 4}}}
		r := NewReader(src, limit)
		r.ReportComments(true)
		next(t, r, "a", "")
		ready, before := r.Ready(), src.reads
		if _, err := r.Next(); !ready || src.reads > before || err != ErrComment {
			t.Errorf("a comment of %d bytes: Ready() = %t, but Next reads %d times and returns %v", length, ready, src.reads-before, err)
		}
	}
}
