package sse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// corpus returns a stream as agents send it: 70 % frames of about 250 bytes, 20 % of 600 bytes, 10 % of 2 to
// 4 KB.
func corpus(frames int) []byte {
	var b []byte
	for i := range frames {
		size := 190 + i*37%120
		switch i % 10 {
		case 3, 7:
			size = 540 + i*31%120
		case 9:
			size = 2000 + i*613%2000
		}
		b = fmt.Appendf(b, "id: %d\nevent: content-delta\ndata: {\"kind\":\"content-delta\",\"delta\":\"%s\"}\n\n", i, strings.Repeat("x", size-50))
	}
	return b
}

const corpusFrames = 1000

// loop returns the same bytes forever.
type loop struct {
	b  []byte
	at int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.b[l.at:])
	l.at = (l.at + n) % len(l.b)
	return n, nil
}

// TestNextAllocatesNothing checks that reading frames does not allocate.
func TestNextAllocatesNothing(t *testing.T) {
	for name, stream := range map[string][]byte{
		"mixed":           corpus(corpusFrames),
		"many data lines": []byte(strings.Repeat("data: x\r\n", 1000) + "\r\n"),
		"all fields":      []byte("\r\r:hb\n\nid:1\nevent:x\nretry:1500\nfoo:bar\ndata:a\ndata:b\n\nid\n\n"),
	} {
		for _, src := range []io.Reader{&loop{b: stream}, iotest.OneByteReader(&loop{b: stream})} {
			r := NewReader(src, 0)
			read := func() {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
			}
			for range 20 {
				read()
			}
			if n := testing.AllocsPerRun(100, read); n != 0 {
				t.Errorf("%s: Next allocates %v times per frame, want 0", name, n)
			}
		}
	}
}

// TestAppendAllocatesNothing checks that writing a frame does not allocate.
func TestAppendAllocatesNothing(t *testing.T) {
	f := Frame{ID: []byte("e-1"), Event: []byte("task-started"), Data: []byte(`{"a":` + "\n" + `1}`)}
	dst := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		out, err := AppendFrame(dst, f)
		if err != nil {
			t.Fatal(err)
		}
		AppendRetry(AppendComment(out, "heartbeat"), 2000)
	}); n != 0 {
		t.Errorf("AppendFrame allocates %v times, want 0", n)
	}
}

// BenchmarkReader compares the Reader with bufio.Scanner, which reads only lines.
func BenchmarkReader(b *testing.B) {
	stream := corpus(corpusFrames)
	src := bytes.NewReader(nil)
	b.Run("mixed", func(b *testing.B) {
		b.SetBytes(int64(len(stream)))
		b.ReportAllocs()
		r := NewReader(&loop{b: stream}, 0)
		for b.Loop() {
			for range corpusFrames {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("bufio.Scanner", func(b *testing.B) { // lines only, and none over 64 KiB
		b.SetBytes(int64(len(stream)))
		var buf [4096]byte
		for b.Loop() {
			src.Reset(stream)
			s := bufio.NewScanner(src)
			s.Buffer(buf[:], bufio.MaxScanTokenSize)
			for s.Scan() {
			}
		}
	})
	b.Run("memcpy", func(b *testing.B) {
		b.SetBytes(int64(len(stream)))
		dst := make([]byte, len(stream))
		for b.Loop() {
			copy(dst, stream)
		}
	})
}

// BenchmarkReaderShapes reads streams whose cost could be quadratic. Each runs at two lengths, whose
// MB/s should be similar.
func BenchmarkReaderShapes(b *testing.B) {
	for _, shape := range []struct {
		name string
		wire func(n int) string
		wrap func(io.Reader) io.Reader
	}{
		{"lines", func(n int) string { return strings.Repeat("data: x\n", n/8) + "\n" }, nil},
		{"CR lines", func(n int) string { return strings.Repeat("data: x\r", n/8) + "\r" }, nil},
		{"comments", func(n int) string { return "data:x\n" + strings.Repeat(": hb\n", n/5) + "\n" }, nil},
		{"one line", func(n int) string { return "data:" + strings.Repeat("x", n) + "\n\n" }, nil},
		{"one line, 1 byte per read", func(n int) string { return "data:" + strings.Repeat("x", n) + "\n\n" }, iotest.OneByteReader},
		{"frames, 1 byte per read", func(n int) string { return strings.Repeat("data: x\n\n", n/9) }, iotest.OneByteReader},
	} {
		for _, size := range []int{80_000, 5_000_000} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, size), func(b *testing.B) {
				wire := shape.wire(size)
				b.SetBytes(int64(len(wire)))
				for b.Loop() {
					var src io.Reader = strings.NewReader(wire)
					if shape.wrap != nil {
						src = shape.wrap(src)
					}
					r := NewReader(src, 0)
					for {
						if _, err := r.Next(); err == io.EOF {
							break
						} else if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// BenchmarkAppendFrame measures writing a frame of a typical size.
func BenchmarkAppendFrame(b *testing.B) {
	f := Frame{ID: []byte("e-12345"), Event: []byte("content-delta"), Data: bytes.Repeat([]byte("x"), 250)}
	b.SetBytes(int64(len(f.Data)))
	b.ReportAllocs()
	dst := make([]byte, 0, 1024)
	for b.Loop() {
		if _, err := AppendFrame(dst, f); err != nil {
			b.Fatal(err)
		}
	}
}
