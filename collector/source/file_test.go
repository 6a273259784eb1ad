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

// told is a sink that notes what it is told of streams and frames.
type told struct{ got, nonces []string }

func (s *told) Open(e *event.Stream) {
	s.got = append(s.got, "open "+e.Source)
	s.nonces = append(s.nonces, e.Nonce)
}

func (s *told) Consume(b *event.Batch) { s.got = append(s.got, b.Agent+string(b.Rejected)) }

func (s *told) Close(_ *event.Stream, end event.End, _ time.Time) {
	s.got = append(s.got, map[event.End]string{event.EndOfStream: "ended", event.EndUnobserved: "unobserved"}[end])
}

// TestFile reads a capture by its name and from standard input, the same each time, and says which file there is not.
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

	s := &told{}
	c := collector.New(collector.Dialects(), collector.Settings{Frame: 1 << 16, JSONDepth: 64}, s)
	for _, from := range []string{name, Stdin} {
		if err := File(t.Context(), c, Capture{Name: from}); err != nil {
			t.Errorf("%s: %v", from, err)
		}
	}
	const want = "open talk.sse, a, b, truncated, ended, open stdin, a, b, truncated, ended"
	if got := strings.Join(s.got, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s.nonces[0] != s.nonces[1] || len(s.nonces[0]) != 64 {
		t.Errorf("the nonces of one content are %q", s.nonces)
	}
	if err := File(t.Context(), c, Capture{Name: Stdin}); err != nil || len(s.nonces) != 3 || s.nonces[2] == s.nonces[1] {
		t.Errorf("nothing more: %v, %q", err, s.nonces)
	}
	if err := File(t.Context(), c, Capture{Name: filepath.Join(dir, "gone.sse")}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "gone.sse") {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := File(t.Context(), c, Capture{Name: dir}); err == nil || !strings.Contains(err.Error(), dir) || len(s.nonces) != 3 {
		t.Errorf("a folder: %v", err)
	}
}
