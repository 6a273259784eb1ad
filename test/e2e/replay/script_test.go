package replay_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestScripts runs the whole program as its users do.
func TestScripts(t *testing.T) {
	captures, err := filepath.Abs(recorded.Captures["adk-go"])
	if err != nil {
		t.Fatal(err)
	}
	conformance, err := filepath.Abs(conformanceFolder)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *harness.Update,
		Deadline:      time.Now().Add(2 * time.Minute), // for a program that serves although it should refuse
		Setup: func(env *testscript.Env) error {
			env.Setenv("CAPTURES", captures)
			env.Setenv("CONFORMANCE", conformance)
			env.Setenv("OTEL_TRACES_EXPORTER", "none") // nothing listens, and a stop would wait for the backend
			env.Setenv("GORACE", "atexit_sleep_ms=0")  // otherwise every program of a script ends a second late
			return nil
		},
		// For root every file is readable.
		Condition: func(name string) (bool, error) { return name == "root" && os.Geteuid() == 0, nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": cmdStatus, "agent": cmdAgent, "expand": cmdExpand, "learn": cmdLearn, "signal": cmdSignal,
		},
	})
}

// cmdStatus runs a program that must exit with the given status, as in "status 2 delegraph replay nothing.sse".
func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, not %d", got, want)
	}
}

// cmdAgent sets VAR to the URL of an agent that answers a run with the capture, and VAR_ADDRESS to its host and port. With -hold
// it holds back all but the first frame until a POST to /continue.
func cmdAgent(ts *testscript.TestScript, neg bool, args []string) {
	hold := len(args) > 0 && args[0] == "-hold"
	if hold {
		args = args[1:]
	}
	if neg || len(args) != 2 {
		ts.Fatalf("usage: agent [-hold] VAR capture")
	}
	first, rest, _ := strings.Cut(ts.ReadFile(args[1]), "\n\n")
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	if !hold {
		release()
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /continue", func(http.ResponseWriter, *http.Request) { release() })
	mux.HandleFunc("POST /run_sse", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, first+"\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-held:
			_, _ = io.WriteString(w, rest)
		case <-r.Context().Done():
		}
	})
	server := httptest.NewServer(mux)
	ts.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
	ts.Setenv(args[0], server.URL)
	ts.Setenv(args[0]+"_ADDRESS", server.Listener.Addr().String())
}

// cmdExpand replaces the variables in a file by their values.
func cmdExpand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: expand file")
	}
	expanded := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(expanded), 0o600))
}

// cmdLearn sets VAR to the pattern's group in a file that a background program is still writing.
func cmdLearn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: learn VAR file pattern")
	}
	pattern, err := regexp.Compile(args[2])
	ts.Check(err)
	var content []byte
	ts.Check(harness.Retry(func() error {
		if content, err = os.ReadFile(ts.MkAbs(args[1])); err != nil {
			return err
		}
		match := pattern.FindSubmatch(content)
		if match == nil {
			return fmt.Errorf("no %s in %s:\n%s", pattern, args[1], content)
		}
		ts.Setenv(args[0], string(match[len(match)-1]))
		return nil
	}))
}

// cmdSignal sends a signal to the delegraph process in the background.
func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM}
	if neg || len(args) != 1 || signals[args[0]] == nil {
		ts.Fatalf("usage: signal HUP|INT|TERM")
	}
	for _, background := range ts.BackgroundCmds() {
		if strings.Contains(background.String(), "exec delegraph") {
			ts.Check(background.Process.Signal(signals[args[0]]))
			return
		}
	}
	ts.Fatalf("no delegraph in the background")
}
