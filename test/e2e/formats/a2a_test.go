package formats_test

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
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/subprocess"
)

// a2aPins is the module of a reader and an agent that use the official Go SDK.
const a2aPins = "testdata/a2a"

// a2aProgram builds them.
func a2aProgram(t *testing.T) string {
	t.Helper()
	compiler, dir := harness.Program(t, "go", "a2a"), t.TempDir()
	// Go caches a test's result by the files that the test itself has read.
	if err := os.CopyFS(dir, os.DirFS(a2aPins)); err != nil {
		t.Fatal(err)
	}
	command := subprocess.CommandContext(t.Context(), compiler, "build", "-o", "a2a", ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "GOPROXY=off")
	if said, err := command.CombinedOutput(); err != nil {
		if bytes.Contains(said, []byte("GOPROXY=off")) {
			component.Missing(t, "the A2A project's Go SDK is not in Go's cache: run .ci/install/a2a")
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

// heldArtifact is what the client has of an artifact.
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

// read reads a URL in a version of the protocol. With a text, it sends the text to the agent at the URL.
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

// versions maps the formats to versions of the protocol.
var versions = map[format.Format]string{format.A2A: "1.0", format.A2A03: "0.3"}

// TestA2AClient reads every capture of every dialect with the official client, which must report no error, every event, and the
// final state of each task.
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
		ends := over
		if slices.ContainsFunc(harness.Replay(t, file), func(r tracker.Report) bool { return r.Status == tracker.Incomplete }) {
			ends = append(slices.Clone(over), "TASK_STATE_WORKING")
		}
		for _, policy := range harness.Policies {
			var last string
			for _, as := range []format.Format{format.A2A, format.A2A03} {
				stream = harness.ReplayAs(t, policy, string(as), file)
				got := client.read(server.URL, versions[as], "")
				if got.Fault != "" || got.Early != "" || got.Loose != "" {
					t.Errorf("%s, %s, %s: %s; %s came before its task; updates without a beginning: %q", name, policy, as, got.Fault, got.Early, got.Loose)
				}
				if n := len(harness.Frames(t, stream)); got.Events != n {
					t.Errorf("%s, %s, %s: the client has %d events of %d frames", name, policy, as, got.Events, n)
				}
				if n := len(got.States); n > 0 && !slices.Contains(ends, got.States[n-1]) {
					t.Errorf("%s, %s, %s: it ends as %s", name, policy, as, got.States[n-1])
				}
				// The versions differ only in notation.
				if account := fmt.Sprint(got); last != "" && account != last {
					t.Errorf("%s, %s: version 1.0 has %s, 0.3 %s", name, policy, last, account)
				} else {
					last = account
				}
			}
		}
	})
}

// nativeReader reads native streams with the official client.
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

// TestA2AClientReadsNative reads every capture of the protocol with the official client after either policy. The client must get
// everything, without an error unless the agent's own stream has one.
func TestA2AClientReadsNative(t *testing.T) {
	client, old := newNativeReader(t), regexp.MustCompile(`"kind": ?"(task|message|status-update|artifact-update)"`)
	for _, file := range recorded.Files(t, recorded.Captures["a2a"]) {
		sent, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		version, rest := "1.0", !bytes.Contains(sent, []byte(`"jsonrpc"`))
		if old.Match(sent) || strings.Contains(file, "-v03") {
			version = "0.3"
		}
		whole := client.read(sent, version, rest)
		for _, policy := range harness.Policies {
			stream := harness.ReplayAs(t, policy, "native", file)
			got := client.read(stream, version, rest)
			if (got.Fault == "") != (whole.Fault == "") || got.Early != whole.Early {
				t.Errorf("%s, %s: %s, of the agent itself: %s", filepath.Base(file), policy, got.Fault, whole.Fault)
			}
			if n := len(harness.Frames(t, stream)); got.Fault == "" && got.Events != n {
				t.Errorf("%s, %s: the client has %d events of %d frames", filepath.Base(file), policy, got.Events, n)
			}
			if !slices.Equal(got.Tasks, whole.Tasks) || !slices.Equal(got.States, whole.States) {
				t.Errorf("%s, %s: the client has %v, of the agent itself %v", filepath.Base(file), policy, got.States, whole.States)
			}
		}
	}
}

// TestA2AClientReadsKinds reads the public form of each kind of update with the official client, in both versions over both
// transports, including updates that it would refuse in full.
func TestA2AClientReadsKinds(t *testing.T) {
	client, kinds := newNativeReader(t), a2aKinds()
	file := filepath.Join(t.TempDir(), "kinds.sse")
	for _, c := range kinds.cases {
		for _, shape := range kinds.shapes {
			if strings.HasPrefix(c.frame, "event:") && shape.name != a2aShapes[3].name {
				continue // the case has a frame of one shape, regardless of the rest of the stream
			}
			wire := ""
			for i, frame := range append(c.before[:len(c.before):len(c.before)], c.frame) {
				wire += shape.wire(i+1, frame)
			}
			wire = strings.ReplaceAll(wire, `"id":1,`, `"id":"1",`) // this client uses strings as ids
			if err := os.WriteFile(file, []byte(wire), 0o600); err != nil {
				t.Fatal(err)
			}
			stream := unplanted(t, kinds.dialect, "public", file)
			version, transport, _ := strings.Cut(shape.name, " ")
			got := client.read(stream, version, transport != "")
			if got.Fault != "" && !bytes.Contains(stream, []byte("the run failed")) {
				t.Errorf("%s, %s: %s, of\n%s", c.kind, shape.name, got.Fault, stream)
			}
			frames := harness.Frames(t, stream)
			if n := len(frames); got.Fault == "" && got.Events != n {
				t.Errorf("%s, %s: the client has %d events of %d frames", c.kind, shape.name, got.Events, n)
			}
			for _, f := range frames {
				var v any
				if err := json.Unmarshal(f.Data, &v); err != nil {
					t.Fatal(err)
				}
				if found := missingMembers("", v); found != "" {
					t.Errorf("%s, %s: %s in %s", c.kind, shape.name, found, f.Data)
				}
			}
		}
	}
}

// wanted maps names to the members that the protocol's schemas require below them or next to them; of alternatives one is enough.
// This client is more lenient than the project's other clients.
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

// missingMembers returns the required members that a value under a name lacks.
func missingMembers(name string, v any) string {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if found := missingMembers(name, one); found != "" {
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
			if found := missingMembers(member, one); found != "" {
				return found
			}
		}
	}
	return ""
}

// TestA2AServer reads a real agent through the proxy, and each format of its external stream.
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
	service := harness.Launch(t, fmt.Sprintf(`
stream: {listen: "127.0.0.1:0"}
sources: [{name: agent, proxy: {listen: "127.0.0.1:0", upstream: "http://%s"}}]
`, strings.TrimSpace(address)), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	proxy, events := "http://"+service.Proxies()[0].Addr, "http://"+service.StreamAddr()+"/events"
	for version, path := range map[string]string{"1.0": "/", "0.3": "/a2a"} {
		for text, state := range map[string]string{"go": "TASK_STATE_COMPLETED", "fail": "TASK_STATE_FAILED"} {
			got := client.read(proxy+path, version, text)
			if n := len(got.States); got.Fault != "" || n == 0 || got.States[n-1] != state || got.Text != "The north slope burned." {
				t.Errorf("version %s, %s: through the proxy the client has %+v", version, text, got)
			}
		}
	}
	for status, want := range map[string]float64{"completed": 2, "failed": 2, "incomplete": 0} {
		harness.Await(t, func(context.Context) error {
			if n := service.Count(t, "delegraph_runs_ended_total", "status", status); n != want {
				return fmt.Errorf("%v runs %s, want %v", n, status, want)
			}
			return nil
		})
	}
	for as, version := range versions {
		got := readAgain(t, service, client, events+"?last_event_id=x&format="+string(as), version)
		if got.Fault != "" || len(got.Tasks) != 4 || strings.Count(got.Text, "The north slope burned.") != 4 {
			t.Errorf("%s: subscribers' clients have %+v", as, got)
		}
	}
}

// readAgain reads everything that the stream holds and stops when no more comes, because the stream itself never ends.
func readAgain(t *testing.T, service *harness.Service, client *a2aClient, url, version string) a2aAccount {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(readHeld(r.Context(), t, service, url))
	}))
	defer server.Close()
	return client.read(server.URL, version, "")
}

// readHeld returns everything that a subscriber gets with an unknown id, up to the newest frame.
func readHeld(ctx context.Context, t *testing.T, service *harness.Service, url string) []byte {
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
	held := service.Replay()
	newest := fmt.Sprintf("-%d\n", held.Frames+held.StreamEnds)
	var all bytes.Buffer
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadString('\n')
		all.WriteString(line)
		if last := strings.HasSuffix(line, newest) && strings.HasPrefix(line, "id: "); err != nil || last {
			for line != "\n" && err == nil { // until the end of the block
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
