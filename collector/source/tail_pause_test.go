package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// TestJitter checks that pauses vary between the nominal pause and one and a half times the nominal pause.
func TestJitter(t *testing.T) {
	a := runTail(t, 46, nil, answers(401))
	atMost := a.waited[6:] // after the growing pauses
	shortest, longest := slices.Min(atMost), slices.Max(atMost)
	if shortest < maxPause || longest > maxPause*3/2 || longest-shortest < maxPause/10 {
		t.Errorf("there are %d pauses between %s and %s", len(atMost), shortest, longest)
	}
}

// TestPauseEnds checks that pause ends after its time or with its context.
func TestPauseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := pause(t.Context(), time.Hour); err != nil || time.Since(start) != time.Hour {
			t.Errorf("pause() = %v after %s", err, time.Since(start))
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		start = time.Now()
		if err := pause(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("after the context is canceled, pause() = %v after %s", err, time.Since(start))
		}
	})
}

// TestCredentialsFromFiles checks that credentials are read at each connection, and that no request is sent without them.
func TestCredentialsFromFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(secret string) {
		if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("first")
	var got []tailRequest
	refuse := func(next string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if write(next); next == "" {
				_ = os.Remove(file)
			}
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	a := runTail(t, 5, func(s *TailSettings) {
		s.Headers = map[string]func() (string, error){"Authorization": func() (string, error) {
			content, err := os.ReadFile(file)
			return string(content), err
		}}
	}, recordRequests(&got, refuse("second")), recordRequests(&got, refuse("")), recordRequests(&got, answers(204)))
	if len(got) != 2 || got[0].Authorization != "first" || got[1].Authorization != "second" {
		t.Errorf("the requests are %+v", got)
	}
	if log := a.log.String(); !strings.Contains(log, "header Authorization: open "+file) || strings.Contains(log, "second") {
		t.Errorf("the log is %s", log)
	}
}

// TestInvalidHeaders checks that no request is sent with an invalid header.
func TestInvalidHeaders(t *testing.T) {
	a := runTail(t, 1, func(s *TailSettings) {
		s.Headers = map[string]func() (string, error){"Authorization": func() (string, error) { return "s3cr3t\x00", nil }}
	}, answers(204))
	if log := a.log.String(); strings.Contains(log, "s3cr3t") || !strings.Contains(log, "no stream from the agent") {
		t.Errorf("the log is %s", log)
	}
}

// TestInvalidURL checks that the log names an invalid URL without its text.
func TestInvalidURL(t *testing.T) {
	a := runTail(t, 1, func(s *TailSettings) { s.URL = "http://s3cr3t:%zz/" }, answers(204))
	if log := a.log.String(); !strings.Contains(log, "invalid URL") || strings.Contains(log, "s3cr3t") {
		t.Errorf("the log is %s", log)
	}
}

// panickySink is a sink that panics.
type panickySink struct{ *tailRecorder }

func (panickySink) Consume(*event.Batch) { panic("boom") }

// TestTailPanics checks that a panic ends only the observation of the stream.
func TestTailPanics(t *testing.T) {
	a := &tailRecorder{limit: 5}
	a.listenInto(t, panickySink{a}, nil, streams(says("1", "a")), answers(204))
	if got, log := strings.Join(a.got, ", "), a.log.String(); got != "open ctx, up true, close , tail panicked" || strings.Contains(log, "at the disco") || !strings.Contains(log, "source.panickySink.Consume ") {
		t.Errorf("the tail reports %s, and the log is %s", got, log)
	}
}

// TestStopDuringStream checks that Run returns if the context is canceled while the agent is silent.
func TestStopDuringStream(t *testing.T) {
	a := &tailRecorder{limit: 5}
	a.listen(t, nil, func(w http.ResponseWriter, r *http.Request) {
		streams(says("1", "a"))(w, r)
		_ = http.NewResponseController(w).Flush()
		a.stop()
		<-r.Context().Done()
	})
	if got := fmt.Sprint(a.got); !strings.HasSuffix(got, "close stopped]") || len(a.waited) > 1 {
		t.Errorf("the tail reports %s and waits %s", got, a.waited)
	}
}
