package adkshapes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/subprocess"
)

// Server is a running ADK API server that serves every shape that its version can build.
type Server struct {
	URL     string // http://127.0.0.1:PORT
	Version string // one of Versions
	ADK     string // such as 2.13.0
	Shapes  []Shape

	sessions atomic.Int64
}

// Shape is an app and what its clients say.
type Shape struct {
	Name     string `json:"name"` // of the app
	Root     string `json:"root"` // of the root agent
	Steps    []Step `json:"steps"`
	Streamed bool   `json:"streamed"` // recorded with streaming, too
	Sessions int    `json:"sessions"` // that ask at the same time
}

// Step is one request: a text, or the answer to the last open call of a function.
type Step struct {
	Text     string         `json:"text"`
	Answer   string         `json:"answer"`
	Response map[string]any `json:"response"`
	Resumes  bool           `json:"resumes"` // the answer names the invocation that asked
}

// Start starts the server of a version. To its environment it adds env, such as "OTEL_EXPORTER_OTLP_ENDPOINT=URL", which
// makes ADK export its spans. The test is skipped where that version is not installed; see adkserver.ComponentDir.
func Start(t testing.TB, version string, env ...string) *Server {
	t.Helper()
	launch, own := python, []string{"GOOGLE_API_KEY=none", "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore"}
	if strings.HasPrefix(version, "js-") {
		launch, own = node, nil
	}
	command := launch(t, version)
	env = append(own, env...)
	s := list(t, command("list"), env)
	s.Version = version
	if !strings.HasPrefix(s.ADK, strings.TrimPrefix(version, "js-")+".") {
		t.Fatalf("ADK %s is installed where %s is wanted: run its script in .ci/install", s.ADK, version)
	}
	s.URL = adkserver.Start(t, s.Shapes[0].Name, env, func(home, port string) *exec.Cmd {
		return command("serve", port, filepath.Join(home, "agents"))
	}).URL
	return s
}

// python returns what makes the command of a Python ADK's launcher.
func python(t testing.TB, version string) func(args ...string) *exec.Cmd {
	t.Helper()
	variable, name, script := "DELEGRAPH_ADK_PYTHON", "adk-python", "adk-python"
	if strings.HasPrefix(version, "1.") {
		variable, name, script = "DELEGRAPH_ADK_PYTHON_1", "adk-python-1", "adk-python 1"
	}
	program := filepath.Join(adkserver.ComponentDir(t, variable, name, script), "venv", "bin", "python")
	launcher := filepath.Join(extract(t, "python"), "launch.py")
	return func(args ...string) *exec.Cmd {
		return subprocess.Command(program, append([]string{launcher}, args...)...)
	}
}

// node returns what makes the command of the JavaScript ADK's launcher.
func node(t testing.TB, _ string) func(args ...string) *exec.Cmd {
	t.Helper()
	root := adkserver.ComponentDir(t, "DELEGRAPH_ADK_JS", "adk-js", "adk-js")
	dir := extract(t, "js")
	// Node resolves imports from the folder of the importing file upwards.
	if err := os.Symlink(filepath.Join(root, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	launcher := filepath.Join(dir, "launch.mjs")
	return func(args ...string) *exec.Cmd {
		return subprocess.Command("node", append([]string{launcher}, args...)...)
	}
}

func extract(t testing.TB, language string) (dir string) {
	t.Helper()
	tree, err := fs.Sub(agents, language)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
	return dir
}

func list(t testing.TB, cmd *exec.Cmd, env []string) *Server {
	t.Helper()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the shapes: %v", err)
	}
	var listed struct {
		Version string  `json:"version"`
		Shapes  []Shape `json:"shapes"`
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		t.Fatalf("list the shapes: %v", err)
	}
	return &Server{ADK: listed.Version, Shapes: listed.Shapes}
}

// Shape returns the shape of that name.
func (s *Server) Shape(t testing.TB, name string) Shape {
	t.Helper()
	i := slices.IndexFunc(s.Shapes, func(shape Shape) bool { return shape.Name == name })
	if i < 0 {
		t.Fatalf("ADK %s has no shape %s", s.ADK, name)
	}
	return s.Shapes[i]
}

// recorded returns what the server recorded of a session's runs.
func (s *Server) recorded(session string) ([]Recording, error) {
	response, err := http.Get(s.URL + "/recording/" + session)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var runs []Recording
	if err := json.NewDecoder(response.Body).Decode(&runs); err != nil {
		return nil, fmt.Errorf("recordings of the session %s: %w", session, err)
	}
	return runs, nil
}

func (s *Server) post(path string, body any) (string, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	response, err := http.Post(s.URL+path, "application/json", bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("POST %s: %s: %s", path, response.Status, text)
	}
	return string(text), err
}

// Play has clients say the steps of a shape in new sessions and returns the recordings of all runs.
func (s *Server) Play(t testing.TB, shape Shape, streaming bool) []Recording {
	t.Helper()
	runs, err := s.play(shape, streaming)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func (s *Server) play(shape Shape, streaming bool) ([]Recording, error) {
	name := shape.Name
	if streaming {
		name += ".stream"
	}
	sessions := make([]string, shape.Sessions)
	for i := range sessions {
		sessions[i] = fmt.Sprintf("%s-%d", shape.Name, s.sessions.Add(1))
	}
	if err := s.converse(shape, streaming, sessions); err != nil {
		return nil, fmt.Errorf("play %s: %w", name, err)
	}
	var all []Recording
	for _, session := range sessions {
		runs, err := s.recorded(session)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			r.Name, r.Version, r.ADK, r.Streaming = name, s.Version, s.ADK, streaming
			r.Shape, r.App, r.Root = shape.Name, shape.Name, shape.Root
			if n := len(all) + 1; n > 1 {
				r.Name = fmt.Sprintf("%s.%d", name, n)
			}
			all = append(all, r)
		}
	}
	return all, nil
}
