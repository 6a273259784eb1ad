package harness

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/internal/sidecar"
)

// Chat posts a text, which the agent repeats, and returns the response.
func (f *FileService) Chat(t *testing.T, path, say string) string {
	t.Helper()
	resp, err := http.Post(f.Address()+path, "text/plain", strings.NewReader(say))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// EventsOfRun returns the external stream from its beginning to the end of the run.
func (f *FileService) EventsOfRun(t *testing.T, query string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+f.StreamAddr()+"/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", "0")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all strings.Builder
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"done"`) || strings.Contains(lines.Text(), "run_ended") {
			break
		}
	}
	return all.String()
}

// FileService is a sidecar that can reload its configuration file.
type FileService struct {
	*Service
	*sidecar.Reloader
}

// LaunchFile is Launch with a configuration file.
func LaunchFile(t *testing.T, text string, env map[string]string) *FileService {
	t.Helper()
	text = withOwnPorts(text)
	file := filepath.Join(t.TempDir(), "delegraph.yml")
	service := Launch(t, text, env)
	f := &FileService{service, sidecar.NewReloader(file, []byte(text), service.Sidecar, service.logger)}
	f.Write(t, text)
	return f
}

// Write writes the configuration file.
func (f *FileService) Write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(f.File, []byte(withOwnPorts(text)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Change writes the configuration file and reloads it.
func (f *FileService) Change(t *testing.T, text string) error {
	t.Helper()
	f.Write(t, text)
	return f.Reload()
}

// Reloads returns how many reloads succeeded and failed, according to the log.
func (f *FileService) Reloads() string {
	log := f.Log.String()
	return fmt.Sprintf("%d well, %d not", strings.Count(log, "msg=reloaded"), strings.Count(log, "reload failed"))
}
