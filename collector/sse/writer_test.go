package sse

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// TestAppendFrame checks the fields of a frame, and that invalid ids and names are rejected.
func TestAppendFrame(t *testing.T) {
	for _, tc := range []struct {
		id, event, data string
		want            string // "" if the frame is rejected
	}{
		{"", "", "", "data: \n\n"},
		{"1-2", "end", `{"a":1}`, "id: 1-2\nevent: end\ndata: {\"a\":1}\n\n"},
		{"", "", "a\nb", "data: a\ndata: b\n\n"},
		{"", "", "\n", "data: \ndata: \n\n"},
		{"", "", "a\r\nb\rc\n\rd\r\r\n", "data: a\ndata: b\ndata: c\ndata: \ndata: d\ndata: \ndata: \n\n"},
		{"", "", "\n\ndata: x\n\nid: 9", "data: \ndata: \ndata: data: x\ndata: \ndata: id: 9\n\n"},
		{" 1", " x", "  y", "id:  1\nevent:  x\ndata:   y\n\n"},
		{"", "", "\x00\xff\u2028", "data: \x00\xff\u2028\n\n"},
		{"1\n2", "", "", ""},
		{"1\r", "", "", ""},
		{"\x00", "", "", ""},
		{"", "\n", "", ""},
		{"", "a\rdata: x", "", ""},
		{"", "a\x00", "", ""},
	} {
		f := Frame{ID: []byte(tc.id), Event: []byte(tc.event), Data: []byte(tc.data)}
		got, err := AppendFrame([]byte("before|"), f)
		if refused := tc.want == ""; refused != (err != nil) || string(got) != "before|"+tc.want {
			t.Errorf("AppendFrame() of the id %q, event %q and data %q = %q, %v; want %q", tc.id, tc.event, tc.data, got, err, tc.want)
		}
	}
}

// TestAppendComment checks comments of several lines.
func TestAppendComment(t *testing.T) {
	for text, want := range map[string]string{
		"":                  ": \n\n",
		"heartbeat":         ": heartbeat\n\n",
		"a\n\ndata: x\r\rb": ": a\n: \n: data: x\n: \n: b\n\n",
	} {
		if got := string(AppendComment(nil, text)); got != want {
			t.Errorf("AppendComment(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestAppendRetry checks that a retry time is written in milliseconds.
func TestAppendRetry(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                             "retry: 0\n\n",
		-time.Second:                  "retry: 0\n\n",
		1:                             "retry: 1\n\n",
		1500 * time.Microsecond:       "retry: 2\n\n",
		2 * time.Second:               "retry: 2000\n\n",
		time.Duration(1<<63 - 1):      "retry: 9223372036855\n\n",
		time.Hour + time.Microsecond:  "retry: 3600001\n\n",
		-time.Hour - time.Microsecond: "retry: 0\n\n",
	} {
		if got := string(AppendRetry(nil, d)); got != want {
			t.Errorf("AppendRetry(%v) = %q, want %q", d, got, want)
		}
	}
}

// TestRoundTrip checks that each frame of the vectors is the same after writing and reading it.
func TestRoundTrip(t *testing.T) {
	for _, v := range readVectors(t) {
		first := drain(t, &splitReader{stream: string(v.wire)}, DefaultLimit, nil)
		var wire []byte
		sent := 0
		for _, r := range first.Results {
			out, err := AppendFrame(wire, Frame{ID: []byte(r.ID), Event: []byte(r.Event), Data: []byte(r.Data)})
			if err != nil {
				if strings.Contains(r.ID+r.Event, "\x00") {
					continue
				}
				t.Fatalf("%s: %v", v.name, err)
			}
			wire = AppendRetry(AppendComment(out, r.Data), time.Second)
			sent++
		}
		second := drain(t, &splitReader{stream: string(wire), sizes: []int{7}}, DefaultLimit, nil)
		if len(second.Results) != sent || second.Truncated != 0 {
			t.Fatalf("%s: %d frames are written and %d read", v.name, sent, len(second.Results))
		}
		for i, got := range second.Results {
			want := first.Results[i]
			if sent == len(first.Results) && (got.Event != want.Event || got.Data != want.Data || want.ID != "" && got.ID != want.ID) {
				t.Errorf("%s: frame %d is %+v, want %+v", v.name, i, got, want)
			}
		}
	}
}

// FuzzWriter checks that AppendFrame writes exactly one frame, or returns an error and writes nothing.
func FuzzWriter(f *testing.F) {
	for _, data := range []string{"", "\n", "a\r\nb\r", " x", "\n\ndata: x\n\n", "\xef\xbb\xbf", "\xff\x00"} {
		f.Add([]byte("1"), []byte("x"), []byte(data), []byte{1})
		f.Add([]byte(data), []byte(data), []byte{}, []byte{2, 1})
	}
	lineEnds := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	f.Fuzz(func(t *testing.T, id, event, data, split []byte) {
		before, err := AppendFrame(nil, Frame{ID: []byte("before"), Data: []byte("before")})
		if err != nil {
			t.Fatal(err)
		}
		wire, err := AppendFrame(bytes.Clone(before), Frame{ID: id, Event: event, Data: data})
		if bad := bytes.ContainsAny(id, "\r\n\x00") || bytes.ContainsAny(event, "\r\n\x00"); bad {
			if err == nil || !bytes.Equal(wire, before) {
				t.Fatalf("AppendFrame() writes %q and returns no error", wire)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		wire = AppendComment(wire, string(data))
		wire, err = AppendFrame(wire, Frame{Data: []byte("after")})
		if err != nil {
			t.Fatal(err)
		}
		sizes := make([]int, len(split))
		for i, b := range split {
			sizes[i] = int(b)
		}
		want := result{ID: string(id), Event: string(event), Data: lineEnds.Replace(string(data))}
		if len(id) == 0 {
			want.ID = "before"
		}
		r := NewReader(&splitReader{stream: string(wire), sizes: sizes}, 0)
		next(t, r, "before", "before")
		got, err := r.Next()
		if err != nil || string(got.Data) != want.Data || string(got.Event) != want.Event || string(got.ID) != want.ID {
			t.Fatalf("the frame is read as %q %q %q, %v; want %+v", got.ID, got.Event, got.Data, err, want)
		}
		next(t, r, "after", want.ID)
		if _, err := r.Next(); err != io.EOF || r.TruncatedBytes() != 0 {
			t.Fatalf("at the end, Next() = %v with %d truncated bytes", err, r.TruncatedBytes())
		}
	})
}
