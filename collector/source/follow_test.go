package source

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
)

// write puts a text into a file, after what it has or in its place.
func write(t *testing.T, name, text string, how int) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|how, 0o600)
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

// TestFollow has a file change each time that its end was reached, and is ended after the last of these.
func TestFollow(t *testing.T) {
	const grow, anew = os.O_APPEND, os.O_TRUNC
	for name, c := range map[string]struct {
		changes func(file string) []func()
		want    string
	}{
		"grows": {func(file string) []func() {
			return []func(){
				func() { write(t, file, says("2", "b"), grow) },
				func() {}, // nothing has happened
				func() { write(t, file, says("3", "c")[:20], grow) },
				func() { write(t, file, says("3", "c")[20:], grow) },
			}
		}, "open, a, b, c, ended"},
		"is cut": {func(file string) []func() {
			return []func(){func() { write(t, file, "", anew) }, func() { write(t, file, says("2", "b"), grow) }}
		}, "open, a, ended, open, b, ended"},
		"is cut and as long again": {func(file string) []func() {
			return []func(){func() { write(t, file, says("2", "b")+says("3", "c")+says("4", "d"), anew) }}
		}, "open, a, ended, open, b, c, d, ended"},
		"is written anew with the same before more": {func(file string) []func() {
			return []func(){func() { write(t, file, says("1", "a")+says("2", "b"), anew) }}
		}, "open, a, b, ended"},
		"is replaced": {func(file string) []func() {
			return []func(){
				func() { rename(t, file, file+".1") },
				func() { write(t, file+".1", says("2", "b"), grow) }, // by who still has it open
				func() { write(t, file+".1", says("3", "c"), grow); write(t, file, says("4", "d"), grow) },
				func() { write(t, file, says("5", "e"), grow) },
			}
		}, "open, a, b, c, ended, open, d, e, ended"},
		"is cut in a frame": {func(file string) []func() {
			return []func(){func() { write(t, file, "data: half", grow) }, func() { write(t, file, "", anew) }}
		}, "open, a, truncated, ended, open, ended"},
		"ends in a frame": {func(file string) []func() {
			return []func(){func() { write(t, file, "data: half", grow) }}
		}, "open, a, truncated, ended"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "talk.sse")
			write(t, file, says("1", "a"), 0)
			changes := c.changes(file)
			ctx, cancel := context.WithCancel(t.Context())
			s := &told{}
			err := Follow(ctx, collecting(s), Capture{Name: file}, func(ctx context.Context) error {
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
				t.Error(diff)
			}
			if len(s.nonces) == 2 && s.nonces[0] == s.nonces[1] {
				t.Error("both streams have one nonce")
			}
		})
	}
}

func collecting(s event.Sink) *collector.Collector {
	return collector.New(collector.Dialects(), collector.Settings{Frame: 1 << 16, JSONDepth: 64}, s)
}

// TestFollowVanished has a file moved away between the end of one and the opening of the next.
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
		t.Fatalf("%v after %d waits", err, waits)
	}
	f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reopen(ctx, file+".none", func(ctx context.Context) error { return ctx.Err() }); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits any more: %v", err)
	}
}

// TestFollowBehind is ended before the end of the file: that is no end of the stream.
func TestFollowBehind(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.sse")
	write(t, file, says("1", "a")+strings.Repeat(": much more\n\n", 1<<16), 0)
	ctx, cancel := context.WithCancel(t.Context())
	s := &stopping{stop: cancel}
	if err := Follow(ctx, collecting(s), Capture{Name: file, Dialect: "adk"}, nil); err != nil {
		t.Fatal(err)
	}
	if s.end != event.EndShutdown {
		t.Errorf("it ended as %v", s.end)
	}
}

// stopping is a sink that has the reading ended at the first frame.
type stopping struct {
	told
	stop func()
	end  event.End
}

func (s *stopping) Consume(*event.Batch) { s.stop() }

func (s *stopping) Close(_ *event.Stream, end event.End, _ time.Time) { s.end = end }

// TestFollowPipe reads standard input until it ends, or until nobody wants more of it.
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
		s := &stopping{stop: func() {
			if broken {
				cancel()
			} else {
				in.Close()
			}
		}}
		if _, err := in.WriteString(says("1", "a")); err != nil {
			t.Fatal(err)
		}
		if err := Follow(ctx, collecting(s), Capture{Name: Stdin, Dialect: "adk"}, nil); err != nil {
			t.Error(err)
		}
		if want := map[bool]event.End{false: event.EndOfStream, true: event.EndShutdown}[broken]; s.end != want {
			t.Errorf("broken off %v: it ended as %v", broken, s.end)
		}
		cancel()
		in.Close()
	}
}

// TestFollowNothing says which file cannot be read.
func TestFollowNothing(t *testing.T) {
	dir := t.TempDir()
	if err := Follow(t.Context(), collecting(&told{}), Capture{Name: filepath.Join(dir, "gone.sse")}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := Follow(t.Context(), collecting(&told{}), Capture{Name: dir}, nil); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder: %v", err)
	}
}

// TestSeen is told of every byte of a capture, and how many there are.
func TestSeen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.sse")
	text := strings.Repeat(says("1", "a"), 1000)
	write(t, file, text, 0)
	var last, of int64
	if err := File(t.Context(), collecting(&told{}), Capture{Name: file, Seen: func(read, size int64) { last, of = read, size }}); err != nil {
		t.Fatal(err)
	}
	if last != int64(len(text)) || of != last {
		t.Errorf("%d of %d bytes; there are %d", last, of, len(text))
	}
}

// TestFileStopped reads no more of a capture once nobody wants it.
func TestFileStopped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.sse")
	write(t, file, strings.Repeat(says("1", "a"), 10_000), 0)
	ctx, cancel := context.WithCancel(t.Context())
	frames := 0
	s := &stopping{stop: func() { frames++; cancel() }}
	if err := File(ctx, collecting(s), Capture{Name: file, Dialect: "adk"}); !errors.Is(err, context.Canceled) || frames > 5_000 {
		t.Errorf("%d frames, then %v", frames, err)
	}
}
