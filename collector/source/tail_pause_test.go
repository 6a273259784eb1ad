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

// TestJitter waits another time at each attempt, between what is asked for and half as much again.
func TestJitter(t *testing.T) {
	a := tailing(t, 40, nil, answers(401))
	least, most := slices.Min(a.waited), slices.Max(a.waited)
	if least < longestPause || most > longestPause*3/2 || most-least < longestPause/10 {
		t.Errorf("%d pauses between %s and %s", len(a.waited), least, most)
	}
}

// TestPauseEnds waits for the time or for the end, whichever is first.
func TestPauseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := pause(t.Context(), time.Hour); err != nil || time.Since(begun) != time.Hour {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		begun = time.Now()
		if err := pause(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Minute {
			t.Errorf("stopped: %v after %s", err, time.Since(begun))
		}
	})
}

// TestCredentialsFromFiles reads them at each connection: whoever rotates them needs no restart, and whoever forgets them is not
// asked without them.
func TestCredentialsFromFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(secret string) {
		if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("first")
	var got []asked
	refuse := func(next string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if write(next); next == "" {
				_ = os.Remove(file)
			}
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	a := tailing(t, 5, func(s *TailSettings) {
		s.Headers = map[string]func() (string, error){"Authorization": func() (string, error) {
			content, err := os.ReadFile(file)
			return string(content), err
		}}
	}, looked(&got, refuse("second")), looked(&got, refuse("")), looked(&got, answers(204)))
	if len(got) != 2 || got[0].Authorization != "first" || got[1].Authorization != "second" {
		t.Errorf("%+v", got)
	}
	for i, waited := range a.waited {
		if waited < longestPause {
			t.Errorf("pause %d lasts %s", i+1, waited)
		}
	}
	if log := a.log.String(); !strings.Contains(log, "header Authorization: open "+file) || strings.Contains(log, "second") {
		t.Error(log)
	}
}

// TestHeadersThatAreNone ask nobody: net/http would refuse them at every attempt.
func TestHeadersThatAreNone(t *testing.T) {
	a := tailing(t, 1, func(s *TailSettings) {
		s.Headers = map[string]func() (string, error){"Authorization": func() (string, error) { return "s3cr3t\x00", nil }}
	}, answers(204))
	if log := a.log.String(); strings.Contains(log, "s3cr3t") || !strings.Contains(log, "no stream from the agent") {
		t.Error(log)
	}
}

// TestURLThatIsNone waits long.
func TestURLThatIsNone(t *testing.T) {
	a := tailing(t, 1, func(s *TailSettings) { s.URL = "http://s3cr3t:%zz/" }, answers(204))
	if log := a.log.String(); !strings.Contains(log, "its URL is none") || strings.Contains(log, "s3cr3t") || a.waited[0] < longestPause {
		t.Error(log, a.waited)
	}
}

// faulty is a sink with a fault of ours.
type faulty struct{ *audience }

func (f faulty) Consume(*event.Batch) { panic("at the disco") }

// TestTailPanics ends the observation of this stream, and nothing else.
func TestTailPanics(t *testing.T) {
	a := &audience{limit: 5}
	a.listenInto(t, faulty{a}, nil, streams(says("1", "a")), answers(204))
	if got, log := strings.Join(a.got, ", "), a.log.String(); got != "open ctx, up true, close , tail panicked" || strings.Contains(log, "at the disco") || !strings.Contains(log, "source.faulty.Consume ") {
		t.Error(got, log)
	}
}

// TestStopInAStream ends it while the agent is silent.
func TestStopInAStream(t *testing.T) {
	a := &audience{limit: 5}
	a.listen(t, nil, func(w http.ResponseWriter, r *http.Request) {
		streams(says("1", "a"))(w, r)
		_ = http.NewResponseController(w).Flush()
		a.stop()
		<-r.Context().Done()
	})
	if got := fmt.Sprint(a.got); !strings.HasSuffix(got, "close stopped]") || len(a.waited) > 1 {
		t.Error(got, a.waited)
	}
}
