package sse

import (
	"errors"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// result is what one call of Next gave, or should give.
type result struct {
	ID, Event, Data string
	Size            int
	TooLarge        bool

	LastEventID string        // after the call
	Retry       time.Duration // after the call
}

type outcome struct {
	Results     []result
	LastEventID string
	Retry       time.Duration
	Truncated   int
}

// oracle reads a whole stream one byte at a time, in the standard's own words
// and without care for speed. due[i] is the number of bytes after which result i
// must be out; more than the stream has means at its end.
func oracle(stream string, limit int) (want outcome, due []int) {
	var (
		line, dataBuffer, eventBuffer, idBuffer, id string
		idSeen, afterCR, tooLarge                   bool
		size                                        int
		retry                                       time.Duration
	)
	start := 0
	if strings.HasPrefix(stream, "\ufeff") {
		start = 3
	} else if strings.HasPrefix("\ufeff", stream) {
		return outcome{Truncated: len(stream)}, nil // part of a byte order mark is no line yet
	}
	emit := func(r result, at int) {
		r.LastEventID, r.Retry = want.LastEventID, want.Retry
		want.Results = append(want.Results, r)
		due = append(due, at)
	}
	endBlock := func(at int) {
		switch {
		case tooLarge:
			emit(result{TooLarge: true, Size: size}, at)
		default:
			want.Retry = retry
			if idSeen {
				id = idBuffer
				if len(id) <= 1024 {
					want.LastEventID = id
				}
			}
			if dataBuffer != "" {
				emit(result{ID: id, Event: eventBuffer, Data: strings.TrimSuffix(dataBuffer, "\n"), Size: size}, at)
			}
		}
		dataBuffer, eventBuffer, idBuffer, idSeen, tooLarge, size = "", "", "", false, false, 0
		retry = want.Retry
	}
	field := func() {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			dataBuffer += value + "\n"
		case "event":
			eventBuffer = value
		case "id":
			if !strings.Contains(value, "\x00") {
				idBuffer, idSeen = value, true
			}
		case "retry":
			if n, ok := new(big.Int).SetString(value, 10); ok && strings.Trim(value, "0123456789") == "" && n.IsInt64() {
				retry = 5 * time.Minute
				if n.Cmp(big.NewInt(300_000)) < 0 {
					retry = max(100*time.Millisecond, time.Duration(n.Int64())*time.Millisecond)
				}
			}
		}
	}
	for i := start; i < len(stream); i++ {
		c := stream[i]
		if c == '\n' && afterCR {
			afterCR = false
			if size > 0 {
				size++
			}
			tooLarge = tooLarge || size > limit
			continue
		}
		afterCR = c == '\r'
		size++
		tooLarge = tooLarge || size > limit
		switch {
		case c != '\r' && c != '\n':
			line += string([]byte{c})
		case line == "":
			endBlock(i + 1)
		default:
			field()
			line = ""
		}
	}
	switch {
	case tooLarge:
		emit(result{TooLarge: true, Size: size}, len(stream)+1)
	case dataBuffer != "" || eventBuffer != "" || idSeen || line != "" && line[0] != ':':
		want.Truncated = size
		fallthrough
	default:
		want.Retry = retry
	}
	return want, due
}

// splitReader hands out a stream in pieces whose sizes cycle through sizes; 0
// is a read of no bytes, and lastErr comes together with the last byte if early.
type splitReader struct {
	stream string
	sizes  []int
	early  bool
	err    error // at the end; nil means io.EOF

	reads, before, done int // bytes handed out before and after the last read
	empty               bool
	largest             int // buffer offered
}

func (s *splitReader) Read(p []byte) (int, error) {
	s.largest = max(s.largest, len(p))
	s.before = s.done
	n := len(p)
	if len(s.sizes) > 0 {
		n = min(n, s.sizes[s.reads%len(s.sizes)])
	}
	s.reads++
	if n == 0 && s.empty {
		n = 1
	}
	s.empty = n == 0
	n = copy(p[:n], s.stream[s.done:])
	s.done += n
	if s.done == len(s.stream) && (n == 0 && !s.empty || s.early) {
		if s.err != nil {
			return n, s.err
		}
		return n, io.EOF
	}
	return n, nil
}

// drain calls Next until the stream ends. It fails the test if a frame was held
// back, a read was made while one was at hand, or memory went over the bound.
func drain(t *testing.T, src *splitReader, limit int, due []int) outcome {
	t.Helper()
	r := NewReader(src, limit)
	var got outcome
	for i := 0; ; i++ {
		f, err := r.Next()
		res := result{ID: string(f.ID), Event: string(f.Event), Data: string(f.Data), Size: f.Size}
		var tooLarge *TooLargeError
		switch {
		case errors.As(err, &tooLarge):
			res.TooLarge, res.Size = true, tooLarge.Size
			if tooLarge.Limit != limit || tooLarge.Size <= limit {
				t.Fatalf("result %d: %v", i, err)
			}
		case err != nil:
			if want := src.err; !(err == want || want == nil && err == io.EOF) {
				t.Fatalf("stream ended with %v", err)
			}
			if again, errAgain := r.Next(); errAgain != err || again.Data != nil {
				t.Fatalf("after the end Next gave %v, %v", again, errAgain)
			}
			got.LastEventID, got.Truncated = r.LastEventID(), r.Truncated()
			got.Retry, _ = r.Retry()
			return got
		case f.Size > limit || len(f.Data)+len(f.Event) > f.Size || len(f.ID) > limit:
			t.Fatalf("result %d is over the limit of %d: %d bytes", i, limit, f.Size)
		}
		if i < len(due) && due[i] <= len(src.stream) && (due[i] <= src.before || due[i] > src.done) {
			t.Fatalf("result %d was due after byte %d, came between %d and %d", i, due[i], src.before, src.done)
		}
		if bound := max(firstBuffer, limit+1); len(r.buf) > bound || src.largest > bound {
			t.Fatalf("buffer of %d bytes, limit %d", len(r.buf), limit)
		}
		res.LastEventID = r.LastEventID()
		res.Retry, _ = r.Retry()
		got.Results = append(got.Results, res)
	}
}

func checkSplits(t *testing.T, stream string, limit int, sizes ...[]int) {
	t.Helper()
	want, due := oracle(stream, limit)
	for _, s := range sizes {
		for _, early := range []bool{false, true} {
			got := drain(t, &splitReader{stream: stream, sizes: s, early: early}, limit, due)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("read sizes %v, limit %d: frames differ (-want +got):\n%s", s, limit, diff)
			}
		}
	}
}

// FuzzReader holds the Reader to the oracle for any split of a stream into
// reads, and so any two splits to each other.
func FuzzReader(f *testing.F) {
	for _, v := range readVectors(f) {
		if len(v.wire) < 4096 {
			f.Add(v.wire, []byte{1, 0, 2}, uint16(4096))
			f.Add(v.wire, []byte{3, 1}, uint16(8))
		}
	}
	f.Add([]byte("id:1\ndata:a\r\ndata:b\r\n\r\n:c\r\rretry:7\nevent:x\ndata\n\n"), []byte{5}, uint16(20))
	f.Fuzz(func(t *testing.T, stream, split []byte, limit uint16) {
		if len(stream) > 16<<10 {
			t.Skip("the oracle is slow by design")
		}
		sizes := make([]int, len(split))
		for i, b := range split {
			sizes[i] = int(b)
		}
		checkSplits(t, string(stream), max(1, int(limit)), nil, []int{1}, sizes)
	})
}
