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

// faulty is a dialect that panics, with a value that quotes the wire.
type faulty struct {
	dialect.Dialect
	where recovery.Component
}

const quoted = "c4n4ry"

func (f faulty) boom(where recovery.Component) {
	if f.where == where {
		panic(errors.New(quoted))
	}
}

func (f faulty) New(s *event.Stream) dialect.Decoder { return faultyDecoder{f, f.Dialect.New(s)} }

func (f faulty) Detect(frame dialect.Frame) dialect.Match {
	f.boom(recovery.Detector)
	return f.Dialect.Detect(frame)
}

func (f faulty) Identify(r dialect.Request) event.Identity {
	f.boom(recovery.Request)
	return f.Dialect.Identify(r)
}

type faultyDecoder struct {
	faulty
	dialect.Decoder
}

func (f faultyDecoder) Decode(frame dialect.Frame, b *event.Batch) {
	f.boom(recovery.Decoder)
	f.Decoder.Decode(frame, b)
}

// check makes sure that a component panicked so often, and that one line of the log has the place and not the value.
func (s *seen) check(t *testing.T, want recovery.Component, times int, place string) {
	t.Helper()
	if !slices.Equal(s.panics, slices.Repeat([]recovery.Component{want}, times)) {
		t.Errorf("panics %v, not %d of %s", s.panics, times, want)
	}
	log := s.log.String()
	if strings.Count(log, "a fault of Delegraph") != 1 || !strings.Contains(log, `component=`+string(want)) || !strings.Contains(log, place+" ") ||
		strings.Contains(log, quoted) {
		t.Errorf("the log is %s", log)
	}
}

// TestDialectPanics passes a stream through a verbatim relay whatever its dialect does.
func TestDialectPanics(t *testing.T) {
	other := faulty{Dialect: namesake{adk.Dialect{}}}
	for _, c := range []struct {
		where    recovery.Component
		times    int
		rejected int
		dialects []dialect.Dialect
	}{
		{recovery.Decoder, 2, 2, []dialect.Dialect{faulty{adk.Dialect{}, recovery.Decoder}}},
		{recovery.Detector, 2, 2, []dialect.Dialect{faulty{adk.Dialect{}, recovery.Detector}, other}},
		{recovery.Request, 1, 0, []dialect.Dialect{faulty{adk.Dialect{}, recovery.Request}}},
	} {
		t.Run(string(c.where), func(t *testing.T) {
			s := &seen{}
			sent := fmt.Sprintf(frame, 1) + fmt.Sprintf(frame, 2)
			address, wait := startProxy(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, sent) }), 1<<20, c.dialects...)
			got, err := io.ReadAll(post(t, address, request).Body)
			wait()
			if err != nil || string(got) != sent || len(s.rejected) != c.rejected || len(s.ends) != 1 {
				t.Errorf("got %q, %v; rejected %v", got, err, s.rejected)
			}
			s.check(t, c.where, c.times, "source_test.faulty.boom")
		})
	}
}

// namesake is a dialect of another name.
type namesake struct{ dialect.Dialect }

func (namesake) Name() string { return "other" }

func TestSinkPanics(t *testing.T) { eachRelay(t, testSinkPanics) }

func testSinkPanics(t *testing.T, judge func() source.Judge) {
	s := &seen{consume: func() { panic(quoted) }}
	sent := fmt.Sprintf(frame, 1) + fmt.Sprintf(frame, 2)
	address, wait := startJudged(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, sent) }), 1<<20, judge)
	got, err := io.ReadAll(post(t, address, request).Body)
	wait()
	if err != nil || string(got) != sent {
		t.Errorf("got %q, %v", got, err)
	}
	s.check(t, recovery.Observation, 1, "source_test.testSinkPanics.func1")
}

// foul is a judge that panics at the second frame.
type foul struct{ frames *int }

func (j foul) Append(dst []byte, b *event.Batch) []byte {
	if *j.frames++; *j.frames > 1 {
		panic(quoted)
	}
	return clement{}.Append(dst, b)
}

// TestJudgePanics ends the client's stream there: what could not be judged does not leave.
func TestJudgePanics(t *testing.T) {
	s := &seen{}
	sent := fmt.Sprintf(frame, 1) + fmt.Sprintf(frame, 2) + fmt.Sprintf(frame, 3)
	address, wait := startJudged(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, sent) }), 1<<20,
		func() source.Judge { return foul{new(int)} })
	got, err := io.ReadAll(post(t, address, request).Body)
	wait()
	if err == nil || strings.Contains(string(got), `"t2"`) || strings.Contains(string(got), `"t3"`) {
		t.Errorf("got %q, %v", got, err)
	}
	s.check(t, recovery.Relay, 1, "source_test.foul.Append")
}
