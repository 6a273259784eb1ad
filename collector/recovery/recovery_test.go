package recovery_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/recovery"
)

const secret = "c4n4ry"

type counts map[recovery.Component]int

func recorder() (*recovery.Recorder, counts, *bytes.Buffer) {
	counted, log := counts{}, &bytes.Buffer{}
	return recovery.New(slog.New(slog.NewTextHandler(log, nil)), func(c recovery.Component) { counted[c]++ }), counted, log
}

func explicit()        { panic(secret) }
func index(i int) byte { return secret[i] }
func null(p *counts)   { delete(*p, "") }

// TestRecover checks that each place is logged once, with its stack and without the value, and that
// every panic is counted.
func TestRecover(t *testing.T) {
	r, counted, log := recorder()
	after := 0
	for range 3 {
		func() {
			defer r.Recover(recovery.Decoder, func() { after++ })
			explicit()
		}()
		r.Do(recovery.Filter, func() { _ = index(1000) })
		r.Do(recovery.Filter, func() { null(nil) })
		r.Do(recovery.Filter, func() { _ = strings.Repeat(secret, -1) })
	}
	if after != 3 || counted[recovery.Decoder] != 3 || counted[recovery.Filter] != 9 {
		t.Errorf("the callback ran %d times and the counts are %v; want 3, and 3 and 9", after, counted)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines are logged, want 4: %s", len(lines), log)
	}
	for i, place := range []string{"recovery_test.explicit ", "recovery_test.index ", "recovery_test.null ", "recovery_test.TestRecover.func"} {
		where := strings.Index(lines[i], `place="github.com/delegraph/delegraph/collector/`+place)
		if where < 0 || !strings.Contains(lines[i], "recovery_test.go:") || !strings.Contains(lines[i], "TestRecover ") {
			t.Errorf("line %d does not name %s and its stack: %s", i, place, lines[i])
		}
	}
	if strings.Contains(log.String(), secret) || strings.Contains(log.String(), "1000") {
		t.Errorf("a value of a panic is logged: %s", log)
	}
}

// TestNilRecorder checks that a nil Recorder recovers.
func TestNilRecorder(t *testing.T) {
	var r *recovery.Recorder
	after := false
	func() {
		defer r.Recover(recovery.Decoder, func() { after = true })
		explicit()
	}()
	r.Do(recovery.Decoder, explicit)
	if !after {
		t.Error("the callback did not run")
	}
}

// TestHandler checks that a panic aborts the response and is recorded, except for ErrAbortHandler.
func TestHandler(t *testing.T) {
	r, counted, log := recorder()
	for value, want := range map[any]int{any(secret): 1, any(http.ErrAbortHandler): 1} {
		func() {
			defer func() {
				if again := recover(); again != http.ErrAbortHandler {
					t.Errorf("the handler panics with %v, want ErrAbortHandler", again)
				}
			}()
			handler := r.Handler(recovery.Admin, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(value) }))
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		}()
		if value == secret && counted[recovery.Admin] != want {
			t.Errorf("the counts are %v, want %d", counted, want)
		}
	}
	if counted[recovery.Admin] != 1 || strings.Count(log.String(), "\n") != 1 || strings.Contains(log.String(), secret) {
		t.Errorf("the counts are %v and the log is %q; want one panic and one line without its value", counted, log)
	}
}
