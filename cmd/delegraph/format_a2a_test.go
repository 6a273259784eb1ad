package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/test/subprocess"
)

// a2aPins are a reader and an agent made with the official Go SDK, in a module of their own.
const a2aPins = "testdata/a2a"

// a2aProgram builds them.
func a2aProgram(t *testing.T) string {
	t.Helper()
	compiler, dir := program(t, "go"), t.TempDir()
	// Go caches a test's result by the files that the test itself has read.
	if err := os.CopyFS(dir, os.DirFS(a2aPins)); err != nil {
		t.Fatal(err)
	}
	command := subprocess.CommandContext(t.Context(), compiler, "build", "-o", "a2a", ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "GOPROXY=off")
	if said, err := command.CombinedOutput(); err != nil {
		if bytes.Contains(said, []byte("GOPROXY=off")) {
			lacking(t, "the A2A project's Go SDK is not in Go's cache: run .ci/install/a2a")
		}
		t.Fatalf("%v: %s", err, said)
	}
	return filepath.Join(dir, "a2a")
}

// a2aAccount is what the official client made of a stream.
type a2aAccount struct {
	Events        int
	Tasks, States []string
	Text          string
	Calls         []string
	Held          map[string]heldArtifact
	Loose         string
	Early, Fault  string
}

// heldArtifact is what it has of an artifact.
type heldArtifact struct {
	Name        string
	Bytes       []byte
	Files, URLs []string
	Data        []any
	Chunks      int
	Closed      bool
}

// a2aClient is the official client, which reads one stream after the other.
type a2aClient struct {
	t     *testing.T
	input *json.Encoder
	said  *bufio.Reader
}

func newA2AClient(t *testing.T, name string) *a2aClient {
	t.Helper()
	command := subprocess.Command(name)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &a2aClient{t: t, input: json.NewEncoder(input), said: bufio.NewReader(output)}
}

// read reads an URL in a version of the protocol; with a text, it sends that to the agent there.
func (c *a2aClient) read(url, version, text string) a2aAccount {
	c.t.Helper()
	return c.ask(map[string]any{"URL": url, "Version": version, "Text": text})
}

func (c *a2aClient) ask(request map[string]any) (got a2aAccount) {
	c.t.Helper()
	if err := c.input.Encode(request); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.said.ReadBytes('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(line, &got); err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	return got
}

// versions are those of the protocol.
var versions = map[format.Format]string{format.A2A: "1.0", format.A2A03: "0.3"}

// TestA2AClient has the official client read every capture of every dialect: without an error, every event, and of each task how it
// ended.
func TestA2AClient(t *testing.T) {
	client := newA2AClient(t, a2aProgram(t))
	var stream []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream)
	}))
	t.Cleanup(server.Close)
	over := []string{"TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"}
	everyCapture(t, func(name, file string) {
		for _, policy := range policies {
			var last string
			for _, as := range []format.Format{format.A2A, format.A2A03} {
				stream = formatted(t, policy, string(as), file)
				got := client.read(server.URL, versions[as], "")
				if got.Fault != "" || got.Early != "" || got.Loose != "" {
					t.Errorf("%s, %s, %s: %s; %s came early; an update goes on with nothing: %q", name, policy, as, got.Fault, got.Early, got.Loose)
				}
				if n := len(framesOf(t, stream)); got.Events != n {
					t.Errorf("%s, %s, %s: the client has %d events of %d frames", name, policy, as, got.Events, n)
				}
				if n := len(got.States); n > 0 && !slices.Contains(over, got.States[n-1]) {
					t.Errorf("%s, %s, %s: it ends as %s", name, policy, as, got.States[n-1])
				}
				// The versions differ in words only.
				if account := fmt.Sprint(got); last != "" && account != last {
					t.Errorf("%s, %s: version 1.0 has %s, 0.3 %s", name, policy, last, account)
				} else {
					last = account
				}
			}
		}
	})
}

// nativeReader has the official client read streams as they come.
type nativeReader struct {
	*a2aClient
	url    string
	stream []byte
}

func newNativeReader(t *testing.T) *nativeReader {
	t.Helper()
	r := &nativeReader{a2aClient: newA2AClient(t, a2aProgram(t))}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(r.stream)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *nativeReader) read(stream []byte, version string, rest bool) a2aAccount {
	r.t.Helper()
	r.stream = stream
	return r.ask(map[string]any{"URL": r.url, "Version": version, "REST": rest})
}

// TestA2AClientReadsNative has the official client read what either policy lets out of every capture of its protocol, as it comes:
// all of it, without an error where the agent's own stream has none.
func TestA2AClientReadsNative(t *testing.T) {
	client, old := newNativeReader(t), regexp.MustCompile(`"kind": ?"(task|message|status-update|artifact-update)"`)
	for _, file := range sseFiles(t, captures["a2a"]) {
		sent, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		version, rest := "1.0", !bytes.Contains(sent, []byte(`"jsonrpc"`))
		if old.Match(sent) || strings.Contains(file, "-v03") {
			version = "0.3"
		}
		whole := client.read(sent, version, rest)
		for _, policy := range policies {
			stream := formatted(t, policy, "native", file)
			got := client.read(stream, version, rest)
			if (got.Fault == "") != (whole.Fault == "") || got.Early != whole.Early {
				t.Errorf("%s, %s: %s, of the agent itself: %s", filepath.Base(file), policy, got.Fault, whole.Fault)
			}
			if n := len(framesOf(t, stream)); got.Fault == "" && got.Events != n {
				t.Errorf("%s, %s: the client has %d events of %d frames", filepath.Base(file), policy, got.Events, n)
			}
			if !slices.Equal(got.Tasks, whole.Tasks) || !slices.Equal(got.States, whole.States) {
				t.Errorf("%s, %s: the client has %v, of the agent itself %v", filepath.Base(file), policy, got.States, whole.States)
			}
		}
	}
}

// TestA2AClientReadsKinds has the official client read what the public gets of each kind of update, in both versions over both
// transports, also of those that it would refuse if they were whole.
func TestA2AClientReadsKinds(t *testing.T) {
	client, kinds := newNativeReader(t), a2aKinds()
	file := filepath.Join(t.TempDir(), "kinds.sse")
	for _, c := range kinds.cases {
		for _, shape := range kinds.shapes {
			if strings.HasPrefix(c.frame, "event:") && shape.name != a2aShapes[3].name {
				continue // the case has a frame of one shape, whatever the rest of the stream
			}
			wire := ""
			for i, frame := range append(c.before[:len(c.before):len(c.before)], c.frame) {
				wire += shape.wire(i+1, frame)
			}
			wire = strings.ReplaceAll(wire, `"id":1,`, `"id":"1",`) // this client's ids are strings
			if err := os.WriteFile(file, []byte(wire), 0o600); err != nil {
				t.Fatal(err)
			}
			stream := unplanted(t, kinds.dialect, "public", file)
			version, transport, _ := strings.Cut(shape.name, " ")
			got := client.read(stream, version, transport != "")
			if got.Fault != "" && !bytes.Contains(stream, []byte("the run failed")) {
				t.Errorf("%s, %s: %s, of\n%s", c.kind, shape.name, got.Fault, stream)
			}
			frames := framesOf(t, stream)
			if n := len(frames); got.Fault == "" && got.Events != n {
				t.Errorf("%s, %s: the client has %d events of %d frames", c.kind, shape.name, got.Events, n)
			}
			for _, f := range frames {
				var v any
				if err := json.Unmarshal(f.Data, &v); err != nil {
					t.Fatal(err)
				}
				if found := unschooled("", v); found != "" {
					t.Errorf("%s, %s: %s in %s", c.kind, shape.name, found, f.Data)
				}
			}
		}
	}
}

// wanted are the members that the protocol's schemas want of what stands under a name, or among others; of alternatives one. This
// client is more lenient than others of the project.
var wanted = map[string][][]string{
	"status":         {{"state"}},
	"message":        {{"messageId"}, {"role"}, {"parts", "content"}},
	"artifact":       {{"artifactId"}, {"parts"}},
	"artifacts":      {{"artifactId"}, {"parts"}},
	"parts":          {{"text", "data", "file", "raw", "url"}},
	"content":        {{"text", "data", "file", "raw", "url"}},
	"file":           {{"uri", "bytes", "fileWithUri", "fileWithBytes"}},
	"task":           {{"id"}, {"status"}},
	"statusUpdate":   {{"taskId"}, {"status"}},
	"artifactUpdate": {{"taskId"}, {"artifact"}},
	"result":         {{"task", "message", "statusUpdate", "artifactUpdate", "status", "artifact", "parts"}},
	"error":          {{"code"}, {"message"}},
}

// unschooled is what a schema would say of a value that stands under a name.
func unschooled(name string, v any) string {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if found := unschooled(name, one); found != "" {
				return found
			}
		}
	case map[string]any:
		for _, among := range wanted[name] {
			if !slices.ContainsFunc(among, func(member string) bool { _, is := v[member]; return is }) {
				return fmt.Sprintf("%s without %s", name, strings.Join(among, " or "))
			}
		}
		for member, one := range v {
			if found := unschooled(member, one); found != "" {
				return found
			}
		}
	}
	return ""
}

// TestA2AServer reads a real agent through the proxy, and what its subscribers read in each format.
func TestA2AServer(t *testing.T) {
	name := a2aProgram(t)
	client := newA2AClient(t, name)
	agent := subprocess.Command(name, "serve")
	input, err := agent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = input.Close(); _ = agent.Wait() })
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	car := launch(t, fmt.Sprintf(`
stream: {listen: "127.0.0.1:0"}
sources: [{name: agent, proxy: {listen: "127.0.0.1:0", upstream: "http://%s"}}]
`, strings.TrimSpace(address)), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	proxy, events := "http://"+car.Proxies()[0].Addr, "http://"+car.StreamAddr()+"/events"
	for version, path := range map[string]string{"1.0": "/", "0.3": "/a2a"} {
		for text, state := range map[string]string{"go": "TASK_STATE_COMPLETED", "fail": "TASK_STATE_FAILED"} {
			got := client.read(proxy+path, version, text)
			if n := len(got.States); got.Fault != "" || n == 0 || got.States[n-1] != state || got.Text != "The north slope burned." {
				t.Errorf("version %s, %s: through the proxy the client has %+v", version, text, got)
			}
		}
	}
	for status, want := range map[string]float64{"completed": 2, "failed": 2, "incomplete": 0} {
		await(t, func(context.Context) error {
			if n := car.count(t, "delegraph_runs_ended_total", "status", status); n != want {
				return fmt.Errorf("%v runs %s, want %v", n, status, want)
			}
			return nil
		})
	}
	for as, version := range versions {
		got := readAgain(t, car, client, events+"?last_event_id=x&format="+string(as), version)
		if got.Fault != "" || len(got.Tasks) != 4 || strings.Count(got.Text, "The north slope burned.") != 4 {
			t.Errorf("%s: subscribers' clients have %+v", as, got)
		}
	}
}

// readAgain reads what the stream holds, and ends as soon as nothing more comes: the stream itself never does.
func readAgain(t *testing.T, car *running, client *a2aClient, url, version string) a2aAccount {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(held(r.Context(), t, car, url))
	}))
	defer server.Close()
	return client.read(server.URL, version, "")
}

// held is all that a subscriber gets that comes with an id which nobody has given, to the newest frame.
func held(ctx context.Context, t *testing.T, car *running, url string) []byte {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Error(err)
		return nil
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer response.Body.Close()
	held := car.Replay()
	newest := fmt.Sprintf("-%d\n", held.Frames+held.Ends)
	var all bytes.Buffer
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadString('\n')
		all.WriteString(line)
		if last := strings.HasSuffix(line, newest) && strings.HasPrefix(line, "id: "); err != nil || last {
			for line != "\n" && err == nil { // to the end of its block
				line, err = lines.ReadString('\n')
				all.WriteString(line)
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			return all.Bytes()
		}
	}
}
