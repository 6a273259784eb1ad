package adkserver

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// App is the name of the served agent, for sessions and run requests.
const App = coordinator

//go:embed all:testdata/python/coordinator testdata/js/coordinator
var agents embed.FS

// Server is a running ADK API server.
type Server struct {
	URL string // http://127.0.0.1:PORT
}

// StartPython starts Python's `adk api_server`. env ("NAME=value") is added to its environment, which
// inherits only PATH. The server is killed at the end of the test. The test is skipped where the
// component is not installed.
func StartPython(t testing.TB, model *FakeModel, env ...string) *Server {
	t.Helper()
	root := ComponentDir(t, "DELEGRAPH_ADK_PYTHON", "adk-python", "adk-python")
	return Start(t, App, append(model.environment(), env...), func(home, port string) *exec.Cmd {
		return subprocess.Command(filepath.Join(root, "venv", "bin", "python"), "-m", "google.adk.cli", "api_server",
			"--host", "127.0.0.1", "--port", port, "--no-reload", "--session_service_uri", "memory://",
			"--artifact_service_uri", "memory://", extract(t, home, "python"))
	})
}

// StartJS starts JavaScript's `adk api_server`, in the same way as StartPython.
func StartJS(t testing.TB, model *FakeModel, env ...string) *Server {
	t.Helper()
	root := ComponentDir(t, "DELEGRAPH_ADK_JS", "adk-js", "adk-js")
	return Start(t, App, append(model.environment(), env...), func(home, port string) *exec.Cmd {
		dir := extract(t, home, "js")
		modules := filepath.Join(root, "node_modules")
		// Node resolves an agent's imports from the agent's own folder upwards.
		if err := os.Symlink(modules, filepath.Join(home, "node_modules")); err != nil {
			t.Fatal(err)
		}
		return subprocess.Command("node", filepath.Join(modules, "@google", "adk-devtools", "dist", "esm", "cli_entrypoint.js"),
			"api_server", "--host", "127.0.0.1", "--port", port, "--compile", "false", "--bundle", "false",
			"--session_service_uri", "memory://", dir)
	})
}

// CreateSession creates an empty session. Servers refuse runs of unknown sessions.
func (s *Server) CreateSession(t testing.TB, app, user, session string) {
	t.Helper()
	url := fmt.Sprintf("%s/apps/%s/users/%s/sessions/%s", s.URL, app, user, session)
	response, err := http.Post(url, "application/json", bytes.NewReader([]byte("{}")))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16)); response.StatusCode != http.StatusOK {
		t.Fatalf("create session %s: %s: %s (%v)", session, response.Status, body, err)
	}
}

// RunRequest returns the body of a POST to /run_sse that sends text to the served agent.
func RunRequest(user, session, text string, streaming bool) []byte {
	return runRequest(user, session, part{Text: text}, streaming)
}

// AnswerRequest returns the body of a POST to /run_sse that answers an open call, which is
// long-running or one of the adk_request_* calls. The session must have made the call.
func AnswerRequest(user, session, callID, function string, response map[string]any) []byte {
	return runRequest(user, session, part{FunctionResponse: &functionResponse{callID, function, response}}, false)
}

func runRequest(user, session string, said part, streaming bool) []byte {
	body, err := json.Marshal(map[string]any{
		"appName": App, "userId": user, "sessionId": session, "streaming": streaming,
		"newMessage": content{Role: "user", Parts: []part{said}},
	})
	if err != nil {
		panic(fmt.Sprintf("adkserver: run request: %v", err)) // a test passed a response that is not valid JSON
	}
	return body
}

// ComponentDir returns the folder of a component: the one that the environment variable names, else the
// one in the user's cache. If .ci/install/SCRIPT has not installed it, the test is skipped, or fails with
// DELEGRAPH_REQUIRE=all.
func ComponentDir(t testing.TB, variable, name, script string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "delegraph", name)
	}
	if _, err := os.Stat(filepath.Join(dir, "installed")); err == nil {
		return dir
	}
	problem := fmt.Sprintf("the ADK server %s is not installed in %s: run .ci/install/%s", name, dir, script)
	if os.Getenv("DELEGRAPH_REQUIRE") == "all" {
		t.Fatal(problem)
	}
	t.Skip(problem)
	return ""
}

func extract(t testing.TB, home, language string) string {
	t.Helper()
	tree, err := fs.Sub(agents, "testdata/"+language)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "agents")
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Start runs an ADK server and waits until it lists app. The command gets its own home folder and a
// free port on 127.0.0.1; its environment is PATH, HOME and env. The server is killed at the end of
// the test.
func Start(t testing.TB, app string, env []string, command func(home, port string) *exec.Cmd) *Server {
	t.Helper()
	home, address := t.TempDir(), loopback.FreeAddress(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(home, port)
	cmd.Dir = home
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, env...)
	return launch(t, cmd, "http://"+address, app)
}

// launch starts the server and waits until it lists app.
func launch(t testing.TB, cmd *exec.Cmd, url, app string) *Server {
	t.Helper()
	log := &tail{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // killed at the end
		close(exited)
	}()
	t.Cleanup(func() {
		select {
		case <-exited: // the process id may have been reused
		default:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have exited already
			<-exited
		}
		if t.Failed() {
			t.Logf("log of the ADK server %s:\n%s", url, log)
		}
	})
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for range 1200 {
		select {
		case <-exited:
			t.Fatalf("the ADK server %s ended before it answered", url)
		case <-poll.C:
		}
		if listsApp(url, app) {
			return &Server{URL: url}
		}
	}
	t.Fatalf("the ADK server %s does not answer", url)
	return nil
}

// listsApp reports whether the server at url answers and lists app.
func listsApp(url, app string) bool {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(url + "/list-apps")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	var apps []string
	return json.NewDecoder(io.LimitReader(response.Body, 1<<16)).Decode(&apps) == nil && slices.Contains(apps, app)
}

// tail keeps the last 64 KiB written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (l *tail) Write(p []byte) (int, error) {
	const limit = 64 << 10
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if extra := len(l.buf) - limit; extra > 0 {
		l.buf = slices.Clone(l.buf[extra:])
	}
	return len(p), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.buf)
}
