package source_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/adk"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
)

// panickyDialect is a dialect that panics with a value that quotes the stream.
type panickyDialect struct {
	dialect.Dialect
	where recovery.Component
}

const canary = "c4n4ry"

func (f panickyDialect) boom(where recovery.Component) {
	if f.where == where {
		panic(errors.New(canary))
	}
}

func (f panickyDialect) New(s *event.Stream) dialect.Decoder {
	return panickyDecoder{f, f.Dialect.New(s)}
}

func (f panickyDialect) Detect(frame dialect.Frame) dialect.Match {
	f.boom(recovery.Detector)
	return f.Dialect.Detect(frame)
}

func (f panickyDialect) Identify(r dialect.Request) event.Identity {
	f.boom(recovery.Request)
	return f.Dialect.Identify(r)
}

type panickyDecoder struct {
	panickyDialect
	dialect.Decoder
}

func (f panickyDecoder) Decode(frame dialect.Frame, b *event.Batch) {
	f.boom(recovery.Decoder)
	f.Decoder.Decode(frame, b)
}

// checkPanics checks that a component panicked the given number of times. One log line must name the place and not the
// panic's value.
func (s *proxyRecorder) checkPanics(t *testing.T, want recovery.Component, times int, place string) {
	t.Helper()
	if !slices.Equal(s.panics, slices.Repeat([]recovery.Component{want}, times)) {
		t.Errorf("the counted panics are %v, want %d of %s", s.panics, times, want)
	}
	log := s.log.String()
	if strings.Count(log, "recovered from an internal error") != 1 || !strings.Contains(log, `component=`+string(want)) || !strings.Contains(log, place+" ") ||
		strings.Contains(log, canary) {
		t.Errorf("the log is %s, want one line with %s and without the value", log, place)
	}
}

// TestDialectPanics checks that a verbatim relay passes the whole stream even if its dialect panics.
func TestDialectPanics(t *testing.T) {
	other := panickyDialect{Dialect: namesake{adk.Dialect{}}}
	for _, c := range []struct {
		where    recovery.Component
		times    int
		rejected int
		dialects []dialect.Dialect
	}{
		{recovery.Decoder, 2, 2, []dialect.Dialect{panickyDialect{adk.Dialect{}, recovery.Decoder}}},
		{recovery.Detector, 2, 2, []dialect.Dialect{panickyDialect{adk.Dialect{}, recovery.Detector}, other}},
		{recovery.Request, 1, 0, []dialect.Dialect{panickyDialect{adk.Dialect{}, recovery.Request}}},
	} {
		t.Run(string(c.where), func(t *testing.T) {
			s := &proxyRecorder{}
			sent := fmt.Sprintf(frame, 1) + fmt.Sprintf(frame, 2)
			address, wait := startProxy(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, sent) }), 1<<20, c.dialects...)
			got, err := io.ReadAll(post(t, address, request).Body)
			wait()
			if err != nil || string(got) != sent || len(s.rejected) != c.rejected || len(s.ends) != 1 {
				t.Errorf("the client gets %q, %v; rejected are %v", got, err, s.rejected)
			}
			s.checkPanics(t, c.where, c.times, "source_test.panickyDialect.boom")
		})
	}
}

// namesake is a dialect with another name.
type namesake struct{ dialect.Dialect }

func (namesake) Name() string { return "other" }

// TestSinkPanics checks that the client gets the whole stream if the sink panics.
func TestSinkPanics(t *testing.T) { eachRelay(t, testSinkPanics) }

func testSinkPanics(t *testing.T, newFilter func() source.Filter) {
	s := &proxyRecorder{consume: func() { panic(canary) }}
	sent := fmt.Sprintf(frame, 1) + fmt.Sprintf(frame, 2)
	address, wait := startFiltered(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, sent) }), 1<<20, newFilter)
	got, err := io.ReadAll(post(t, address, request).Body)
	wait()
	if err != nil || string(got) != sent {
		t.Errorf("the client gets %q, %v", got, err)
	}
	s.checkPanics(t, recovery.Observation, 1, "source_test.testSinkPanics.func1")
}

// panickyFilter panics at the second frame.
type panickyFilter struct{ frames *int }

func (j panickyFilter) Append(dst []byte, b *event.Batch) []byte {
	if *j.frames++; *j.frames > 1 {
		panic(canary)
	}
	return passValid{}.Append(dst, b)
}

func (panickyFilter) AppendID(dst, _ []byte) []byte { return dst }

// TestFilterPanics checks that the client's stream ends before the frame on which the filter panics.
func TestFilterPanics(t *testing.T) {
	s := &proxyRecorder{}
	sent := fmt.Sprintf(frame, 1) + fmt.Sprintf(frame, 2) + fmt.Sprintf(frame, 3)
	address, wait := startFiltered(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, sent) }), 1<<20,
		func() source.Filter { return panickyFilter{new(int)} })
	got, err := io.ReadAll(post(t, address, request).Body)
	wait()
	if err == nil || strings.Contains(string(got), `"t2"`) || strings.Contains(string(got), `"t3"`) {
		t.Errorf("the client gets %q, %v", got, err)
	}
	s.checkPanics(t, recovery.Relay, 1, "source_test.panickyFilter.Append")
}
