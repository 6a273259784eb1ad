package recorded

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// Agent answers each request with the recording that the request names, a frame at a time.
type Agent struct {
	*httptest.Server
	Recordings map[string][]byte // by "family/name"
	Fault      http.HandlerFunc  // answers requests with the text "fault"

	mu    sync.Mutex
	Asked []http.Header // of each request
}

// NewAgent starts an agent with the recordings of ADK, which runs until the test ends. Then it reports goroutines that are left, so
// a test calls it before it starts anything else.
func NewAgent(t *testing.T) *Agent {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
	})
	a := &Agent{Recordings: map[string][]byte{}}
	for family, folder := range ADKCaptures {
		for _, file := range Files(t, folder) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(content, []byte("data:")) {
				a.Recordings[family+"/"+strings.TrimSuffix(filepath.Base(file), ".sse")] = content
			}
		}
	}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

// Names returns the sorted names of the recordings.
func (a *Agent) Names() []string { return slices.Sorted(maps.Keys(a.Recordings)) }

func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	a.Asked = append(a.Asked, r.Header)
	a.mu.Unlock()
	if bytes.Contains(body, []byte(`"text":"fault"`)) {
		a.Fault(w, r)
		return
	}
	for name, recording := range a.Recordings {
		if !bytes.Contains(body, []byte(`"text":"`+name+`"`)) {
			continue
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, frame := range bytes.SplitAfter(recording, []byte("\n\n")) {
			_, _ = w.Write(frame)
			_ = http.NewResponseController(w).Flush()
		}
		return
	}
	http.Error(w, "no such recording", http.StatusNotFound)
}
