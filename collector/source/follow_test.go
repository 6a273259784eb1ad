package source

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
)

// write writes a text to a file. flag is added to the flags of os.OpenFile.
func write(t *testing.T, name, text string, flag int) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|flag, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// TestFollow checks the frames of a file that changes each time its end is reached. After the last change, the context is canceled.
func TestFollow(t *testing.T) {
	const grow, anew = os.O_APPEND, os.O_TRUNC
	for name, c := range map[string]struct {
		changes func(file string) []func()
		want    string
	}{
		"growing": {func(file string) []func() {
			return []func(){
				func() { write(t, file, says("2", "b"), grow) },
				func() {}, // no change
				func() { write(t, file, says("3", "c")[:20], grow) },
				func() { write(t, file, says("3", "c")[20:], grow) },
			}
		}, "open, a, b, c, ended"},
		"truncated": {func(file string) []func() {
			return []func(){func() { write(t, file, "", anew) }, func() { write(t, file, says("2", "b"), grow) }}
		}, "open, a, ended, open, b, ended"},
		"truncated, then as long as before": {func(file string) []func() {
			return []func(){func() { write(t, file, says("2", "b")+says("3", "c")+says("4", "d"), anew) }}
		}, "open, a, ended, open, b, c, d, ended"},
		"rewritten with the same start": {func(file string) []func() {
			return []func(){func() { write(t, file, says("1", "a")+says("2", "b"), anew) }}
		}, "open, a, b, ended"},
		"replaced": {func(file string) []func() {
			return []func(){
				func() { rename(t, file, file+".1") },
				func() { write(t, file+".1", says("2", "b"), grow) }, // by a process that still has the old file open
				func() { write(t, file+".1", says("3", "c"), grow); write(t, file, says("4", "d"), grow) },
				func() { write(t, file, says("5", "e"), grow) },
			}
		}, "open, a, b, c, ended, open, d, e, ended"},
		"truncated within a frame": {func(file string) []func() {
			return []func(){func() { write(t, file, "data: half", grow) }, func() { write(t, file, "", anew) }}
		}, "open, a, truncated, ended, open, ended"},
		"ending within a frame": {func(file string) []func() {
			return []func(){func() { write(t, file, "data: half", grow) }}
		}, "open, a, truncated, ended"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "talk.sse")
			write(t, file, says("1", "a"), 0)
			changes := c.changes(file)
			ctx, cancel := context.WithCancel(t.Context())
			s := &frameRecorder{}
			err := Follow(ctx, newCollector(s), Capture{Name: file}, func(ctx context.Context) error {
				if len(changes) == 0 {
					cancel()
					return ctx.Err()
				}
				changes[0]()
				changes = changes[1:]
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(c.want, "open", "open talk.sse"), strings.Join(s.got, ", ")); diff != "" {
				t.Errorf("the frames differ (-want +got):\n%s", diff)
			}
			if len(s.nonces) == 2 && s.nonces[0] == s.nonces[1] {
				t.Error("both streams have the same nonce")
			}
		})
	}
}

func newCollector(s event.Sink) *collector.Collector {
	return collector.New(collector.Dialects(), collector.Settings{MaxFrame: 1 << 16, MaxJSONDepth: 64}, s)
}

// TestFollowVanished checks that Follow waits while a replaced file does not exist.
func TestFollowVanished(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.sse")
	waits := 0
	f, err := reopen(t.Context(), file, func(context.Context) error {
		if waits++; waits == 2 {
			write(t, file, "", 0)
		}
		return nil
	})
	if err != nil || waits != 2 {
		t.Fatalf("Follow() = %v after %d waits", err, waits)
	}
	f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reopen(ctx, file+".none", func(ctx context.Context) error { return ctx.Err() }); !errors.Is(err, context.Canceled) {
		t.Errorf("Follow() = %v after the context is canceled", err)
	}
}

// TestFollowCanceled checks that the stream ends with EndShutdown if the context is canceled before the end of the file.
func TestFollowCanceled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.sse")
	write(t, file, says("1", "a")+strings.Repeat(": much more\n\n", 1<<16), 0)
	ctx, cancel := context.WithCancel(t.Context())
	s := &cancelingSink{stop: cancel}
	if err := Follow(ctx, newCollector(s), Capture{Name: file, Dialect: "adk"}, nil); err != nil {
		t.Fatal(err)
	}
	if s.end != event.EndShutdown {
		t.Errorf("the stream ends with %v, want EndShutdown", s.end)
	}
}

// cancelingSink is a sink that cancels the reading at the first frame.
type cancelingSink struct {
	frameRecorder
	stop func()
	end  event.End
}

func (s *cancelingSink) Consume(*event.Batch) { s.stop() }

func (s *cancelingSink) Close(_ *event.Stream, end event.End, _ time.Time) { s.end = end }

// TestFollowPipe checks that standard input is read until it ends or the context is done.
func TestFollowPipe(t *testing.T) {
	before := os.Stdin
	defer func() { os.Stdin = before }()
	for _, broken := range []bool{false, true} {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		os.Stdin = out
		ctx, cancel := context.WithCancel(t.Context())
		s := &cancelingSink{stop: func() {
			if broken {
				cancel()
			} else {
				in.Close()
			}
		}}
		if _, err := in.WriteString(says("1", "a")); err != nil {
			t.Fatal(err)
		}
		if err := Follow(ctx, newCollector(s), Capture{Name: Stdin, Dialect: "adk"}, nil); err != nil {
			t.Error(err)
		}
		if want := map[bool]event.End{false: event.EndOfStream, true: event.EndShutdown}[broken]; s.end != want {
			t.Errorf("the stream ends with %v; canceled: %t", s.end, broken)
		}
		cancel()
		in.Close()
	}
}

// TestFollowUnreadable checks that an error names the file that cannot be read.
func TestFollowUnreadable(t *testing.T) {
	dir := t.TempDir()
	if err := Follow(t.Context(), newCollector(&frameRecorder{}), Capture{Name: filepath.Join(dir, "gone.sse")}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := Follow(t.Context(), newCollector(&frameRecorder{}), Capture{Name: dir}, nil); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("following a folder: %v", err)
	}
}

// TestOnRead checks that OnRead gets the number of bytes read and the size.
func TestOnRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.sse")
	text := strings.Repeat(says("1", "a"), 1000)
	write(t, file, text, 0)
	var last, of int64
	if err := ReadCapture(t.Context(), newCollector(&frameRecorder{}), Capture{Name: file, OnRead: func(read, size int64) { last, of = read, size }}); err != nil {
		t.Fatal(err)
	}
	if last != int64(len(text)) || of != last {
		t.Errorf("the last call is OnRead(%d, %d), want %d for both", last, of, len(text))
	}
}

// TestReadCaptureCanceled checks that ReadCapture stops when the context is done.
func TestReadCaptureCanceled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.sse")
	write(t, file, strings.Repeat(says("1", "a"), 10_000), 0)
	ctx, cancel := context.WithCancel(t.Context())
	frames := 0
	s := &cancelingSink{stop: func() { frames++; cancel() }}
	if err := ReadCapture(ctx, newCollector(s), Capture{Name: file, Dialect: "adk"}); !errors.Is(err, context.Canceled) || frames > 5_000 {
		t.Errorf("ReadCapture() = %v after %d frames", err, frames)
	}
}

// TestPipeWithoutWriter checks that a canceled context ends the wait for the writer of a named pipe, even of one that replaces a file.
func TestPipeWithoutWriter(t *testing.T) {
	pipe := namedPipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Follow(ctx, newCollector(&frameRecorder{}), Capture{Name: pipe, Dialect: "adk"}, nil); err != nil {
		t.Errorf("Follow() = %v, want nil", err)
	}
	if err := ReadCapture(ctx, newCollector(&frameRecorder{}), Capture{Name: pipe, Dialect: "adk"}); !errors.Is(err, context.Canceled) {
		t.Errorf("ReadCapture() = %v, want the context's error", err)
	}
	if _, err := reopen(ctx, pipe, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("reopen() = %v, want the context's error", err)
	}
}

// namedPipe returns a pipe without a writer.
func namedPipe(t *testing.T) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the goroutines that open it end now or when they get there, because this stays open
		if _, err := syscall.Open(name, syscall.O_RDWR, 0); err != nil {
			t.Error(err)
		}
	})
	return name
}

// TestReadCaptureOfPipe checks that a named pipe is read to its end, and with the same nonce as a file.
func TestReadCaptureOfPipe(t *testing.T) {
	pipe, file := namedPipe(t), filepath.Join(t.TempDir(), "talk.sse")
	write(t, file, says("1", "a"), 0)
	go func() { _ = os.WriteFile(pipe, []byte(says("1", "a")), 0) }()
	s := &frameRecorder{}
	for _, name := range []string{pipe, file} {
		if err := ReadCapture(t.Context(), newCollector(s), Capture{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(s.got, ", "); got != "open pipe, a, ended, open talk.sse, a, ended" || s.nonces[0] != s.nonces[1] {
		t.Errorf("the sink gets %s, nonces %q", got, s.nonces)
	}
}

// TestReadCaptureOfSilentPipe checks that a canceled context ends the reading of a pipe that brings nothing.
func TestReadCaptureOfSilentPipe(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	before := os.Stdin
	os.Stdin = out
	defer func() { os.Stdin = before }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := ReadCapture(ctx, newCollector(&frameRecorder{}), Capture{Name: Stdin}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ReadCapture() = %v, want the context's error", err)
	}
}
