package main

import (
	"context"
	"errors"
	"flag"
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
)

// patience is how long a script waits for what must come about; only a script that fails waits so long.
const patience = 20 * time.Second

// TestMain makes the test binary stand in for the programs that scripts run.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"delegraph": main, "fetch": fetchMain, "orator": oratorMain, "plain": plainMain, "reciter": reciterMain, "receiver": receiverMain})
}

// TestScripts runs the whole program as its users do.
func TestScripts(t *testing.T) {
	captures, err := filepath.Abs(captures["adk-go"])
	if err != nil {
		t.Fatal(err)
	}
	conformance, err := filepath.Abs(conformanceFolder)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Deadline:      time.Now().Add(2 * time.Minute), // of a program that serves where it should refuse
		Setup: func(env *testscript.Env) error {
			env.Setenv("CAPTURES", captures)
			env.Setenv("CONFORMANCE", conformance)
			env.Setenv("OTEL_TRACES_EXPORTER", "none") // nobody listens, and a stop would wait for somebody
			env.Setenv("GORACE", "atexit_sleep_ms=0")  // or every program of a script ends a second late
			return nil
		},
		// For root every file is readable.
		Condition: func(name string) (bool, error) { return name == "root" && os.Geteuid() == 0, nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": cmdStatus, "agent": cmdAgent, "expand": cmdExpand, "learn": cmdLearn, "signal": cmdSignal,
		},
	})
}

// cmdStatus runs a program that must exit with exactly that status: status 2 delegraph replay nothing.sse
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
// it keeps all but the first frame back until somebody posts to /continue.
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

// cmdExpand puts the values of variables into a file.
func cmdExpand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: expand file")
	}
	expanded := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(expanded), 0o600))
}

// cmdLearn sets VAR to what the pattern's group matches in a file that a program in the background is still writing.
func cmdLearn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: learn VAR file pattern")
	}
	pattern, err := regexp.Compile(args[2])
	ts.Check(err)
	var content []byte
	ts.Check(persist(func() error {
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

// cmdSignal sends a signal to the delegraph that runs in the background.
func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"HUP": syscall.SIGHUP, "TERM": syscall.SIGTERM}
	if neg || len(args) != 1 || signals[args[0]] == nil {
		ts.Fatalf("usage: signal HUP|TERM")
	}
	for _, background := range ts.BackgroundCmds() {
		if strings.Contains(background.String(), "exec delegraph") {
			ts.Check(background.Process.Signal(signals[args[0]]))
			return
		}
	}
	ts.Fatalf("no delegraph in the background")
}

// fetchMain is the program fetch [-until pattern] METHOD URL [file]: it sends the file, and prints the answer's body and, on
// standard error, its status. It fails where there is no whole answer, or none of success; with a pattern it asks again until the
// status or the body matches.
func fetchMain() {
	flags := flag.NewFlagSet("fetch", flag.ExitOnError)
	until := flags.String("until", "", "")
	_ = flags.Parse(os.Args[1:])
	insist, wanted := persist, *until
	if wanted == "" {
		insist, wanted = func(try func() error) error { return try() }, "^2"
	}
	var status, body string
	err := insist(func() (err error) {
		status, body, err = exchange(flags.Arg(0), flags.Arg(1), flags.Arg(2))
		if err == nil && !regexp.MustCompile(wanted).MatchString(status+"\n"+body) {
			err = fmt.Errorf("no %s in the answer", wanted)
		}
		return err
	})
	fmt.Print(body)
	fmt.Fprintln(os.Stderr, status)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func exchange(method, url, file string) (status, body string, err error) {
	var content []byte
	if file != "" {
		if content, err = os.ReadFile(file); err != nil {
			return "", "", err
		}
	}
	r, err := http.NewRequest(method, url, strings.NewReader(string(content)))
	if err != nil {
		return "", "", err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp.Status, string(got), err
}

// persist tries again until there is no error, or gives up with the last one.
func persist(try func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up after %s: %w", patience, err)
		case <-again.C:
		}
	}
}
