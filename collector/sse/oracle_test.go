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

// result is the actual or the expected result of one call of Next.
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

// oracle reads a stream byte by byte, exactly as the standard describes it. Result i must be returned after
// due[i] bytes, or at the end of the stream if it has fewer.
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
		return outcome{Truncated: len(stream)}, nil // a partial byte order mark is not a line
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
				retry = time.Duration(min(n.Int64(), maxRetry)) * time.Millisecond
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
		if isComment := c == ':' && line == "" || strings.HasPrefix(line, ":"); size > 0 || !isComment {
			size++
		}
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
	name, _, isNamed := strings.Cut(line, ":")
	isFieldOfFrame := line != "" && (!isNamed || name == "data" || name == "event" || name == "id")
	switch {
	case tooLarge:
		emit(result{TooLarge: true, Size: size}, len(stream)+1)
	case dataBuffer != "" || eventBuffer != "" || idSeen || isFieldOfFrame:
		want.Truncated = size
		fallthrough
	default:
		want.Retry = retry
	}
	return want, due
}

// splitReader returns a stream in pieces whose sizes cycle through sizes. A size of 0 is a read of no bytes. If
// early is set, lastErr is returned together with the last byte.
type splitReader struct {
	stream string
	sizes  []int
	early  bool
	err    error // returned at the end; nil stands for io.EOF

	reads, before, done int // bytes returned before and after the last read
	empty               bool
	largest             int // the largest buffer of a read
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

// drain calls Next until the stream ends. It fails the test if a frame is late, if the source is read while a
// complete frame is buffered, or if the memory exceeds its limit.
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
				t.Fatalf("the stream ends with %v", err)
			}
			if again, errAgain := r.Next(); errAgain != err || again.Data != nil {
				t.Fatalf("after the end, Next() = %v, %v", again, errAgain)
			}
			got.LastEventID, got.Truncated = r.LastEventID(), r.TruncatedBytes()
			got.Retry, _ = r.Retry()
			return got
		case f.Size > limit || len(f.Data)+len(f.Event) > f.Size || len(f.ID) > limit:
			t.Fatalf("result %d has %d bytes, over the limit of %d", i, f.Size, limit)
		}
		if i < len(due) && due[i] <= len(src.stream) && (due[i] <= src.before || due[i] > src.done) {
			t.Fatalf("result %d is returned between byte %d and %d, want it after %d", i, src.before, src.done, due[i])
		}
		if bound := max(minBuffer, limit+1); len(r.buf) > bound || src.largest > bound {
			t.Fatalf("the buffer has %d bytes with a limit of %d", len(r.buf), limit)
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
				t.Fatalf("with read sizes %v and the limit %d, the frames differ (-want +got):\n%s", s, limit, diff)
			}
		}
	}
}

// FuzzReader compares the Reader with the oracle for any split of a stream into reads.
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
			t.Skip("the oracle is slow for long streams")
		}
		sizes := make([]int, len(split))
		for i, b := range split {
			sizes[i] = int(b)
		}
		checkSplits(t, string(stream), max(1, int(limit)), nil, []int{1}, sizes)
	})
}
