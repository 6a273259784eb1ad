package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
)

// frameRecorder is a sink that records streams and frames.
type frameRecorder struct{ got, nonces []string }

func (s *frameRecorder) Open(e *event.Stream) {
	s.got = append(s.got, "open "+e.Source)
	s.nonces = append(s.nonces, e.Nonce)
}

func (s *frameRecorder) Consume(b *event.Batch) { s.got = append(s.got, b.Agent+string(b.Rejected)) }

func (s *frameRecorder) Close(_ *event.Stream, end event.End, _ time.Time) {
	s.got = append(s.got, map[event.End]string{event.EndOfStream: "ended", event.EndUnobserved: "unobserved"}[end])
}

// TestFile checks that a capture is read the same from a file and from standard input, with the same nonce, and that errors name the file.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "talk.sse")
	if err := os.WriteFile(name, []byte(says("1", "a")+says("2", "b")+"data: cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	standard, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer standard.Close()
	before := os.Stdin
	os.Stdin = standard
	defer func() { os.Stdin = before }()

	s := &frameRecorder{}
	c := collector.New(collector.Dialects(), collector.Settings{MaxFrame: 1 << 16, MaxJSONDepth: 64}, s)
	for _, from := range []string{name, Stdin} {
		if err := ReadCapture(t.Context(), c, Capture{Name: from}); err != nil {
			t.Errorf("reading %s: %v", from, err)
		}
	}
	const want = "open talk.sse, a, b, truncated, ended, open stdin, a, b, truncated, ended"
	if got := strings.Join(s.got, ", "); got != want {
		t.Errorf("the sink gets %s\nwant %s", got, want)
	}
	if s.nonces[0] != s.nonces[1] || len(s.nonces[0]) != 64 {
		t.Errorf("the nonces of the same content are %q, want equal ones", s.nonces)
	}
	if err := ReadCapture(t.Context(), c, Capture{Name: Stdin}); err != nil || len(s.nonces) != 3 || s.nonces[2] == s.nonces[1] {
		t.Errorf("reading empty standard input: %v, nonces %q", err, s.nonces)
	}
	if err := ReadCapture(t.Context(), c, Capture{Name: filepath.Join(dir, "gone.sse")}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "gone.sse") {
		t.Errorf("reading a missing file: %v", err)
	}
	if err := ReadCapture(t.Context(), c, Capture{Name: dir}); err == nil || !strings.Contains(err.Error(), dir) || len(s.nonces) != 3 {
		t.Errorf("reading a folder: %v", err)
	}
}
