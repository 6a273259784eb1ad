package formats_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/subprocess"
)

// aguiPins is the folder with the pages and the pinned versions of the AG-UI project's packages.
const aguiPins = "testdata/agui"

// playResult is the result of playing a stream.
type playResult struct {
	Name                 string
	Events, Runs, Errors int
	Rejected             string // the client's error for a run that failed
	Messages             []struct{ Role, Content string }
	Activities           []map[string]any
	Fault                string
	Faults               []string // of each event on its own
}

// player runs streams through the AG-UI project's own schemas, verifier and client.
type player struct {
	t     *testing.T
	input *json.Encoder
	said  *bufio.Reader
}

func newPlayer(t *testing.T) *player {
	t.Helper()
	command := subprocess.Command(harness.Program(t, "node", "readers"), "play.mjs")
	command.Dir = aguiScripts(t)
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
	return &player{t: t, input: json.NewEncoder(input), said: bufio.NewReader(output)}
}

// aguiScripts returns a folder with the player and its packages.
func aguiScripts(t *testing.T) string {
	t.Helper()
	installed := os.Getenv("DELEGRAPH_AGUI")
	if installed == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		installed = filepath.Join(cache, "delegraph", "agui")
	}
	if _, err := os.Stat(filepath.Join(installed, "installed")); err != nil {
		component.Missing(t, "AG-UI's npm packages are not in "+installed+": run .ci/install/agui")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(aguiPins)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (p *player) play(what map[string]string) playResult {
	p.t.Helper()
	if err := p.input.Encode(what); err != nil {
		p.t.Fatal(err)
	}
	line, err := p.said.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	var said playResult
	if err := json.Unmarshal(line, &said); err != nil {
		p.t.Fatalf("%s: %v", line, err)
	}
	return said
}

// file plays a stream from a file.
func (p *player) file(stream []byte) playResult {
	p.t.Helper()
	return p.play(map[string]string{"file": p.stored(stream)})
}

// each returns the schemas' complaint about each event of a stream, or "".
func (p *player) each(stream []byte) []string {
	p.t.Helper()
	return p.play(map[string]string{"file": p.stored(stream), "each": "each"}).Faults
}

func (p *player) stored(stream []byte) string {
	p.t.Helper()
	name := filepath.Join(p.t.TempDir(), "stream")
	if err := os.WriteFile(name, stream, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return name
}

// TestAGUIClient plays every capture of every dialect. Each event must match the project's schemas, the verifier must accept the
// order, and the client must have the answer at the end.
func TestAGUIClient(t *testing.T) {
	p := newPlayer(t)
	everyCapture(t, func(name, file string) {
		for _, policy := range harness.Policies {
			stream := harness.ReplayAs(t, policy, "agui", file)
			said := p.file(stream)
			if said.Fault != "" {
				t.Errorf("%s, %s: %s", name, policy, said.Fault)
			}
			if n := len(harness.Frames(t, stream)); said.Events != n || n > 0 && said.Runs == 0 {
				t.Errorf("%s, %s: %d runs and %d events of %d frames", name, policy, said.Runs, said.Events, n)
			}
			if said.Errors > 0 {
				continue // the client drops the messages of a failed run
			}
			if got, want := assistantText(said), assistantMessages(t, stream); got != want {
				t.Errorf("%s, %s: the client has %q, want %q", name, policy, got, want)
			}
		}
	})
}

// TestAGUIClientPlaysNative plays every native capture of the protocol after either policy. If the agent's own stream can be
// played, so must the filtered one, with the same answer at the end. The schemas must accept everything in the public stream.
func TestAGUIClientPlaysNative(t *testing.T) {
	p := newPlayer(t)
	for _, file := range recorded.Files(t, recorded.Captures["agui"]) {
		sent, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole := p.file(sent)
		for _, policy := range harness.Policies {
			stream := harness.ReplayAs(t, policy, "native", file)
			said := p.file(stream)
			for _, fault := range p.each(stream) {
				if policy == "public" && fault != "" {
					t.Errorf("%s: the public gets %s", filepath.Base(file), fault)
				}
			}
			if whole.Fault != "" {
				continue // the agent's own events have an invalid order or do not match the schemas
			}
			if said.Fault != "" || said.Runs != whole.Runs || said.Errors != whole.Errors || assistantText(said) != assistantText(whole) {
				t.Errorf("%s, %s: the client has %+v, of the agent itself %+v", filepath.Base(file), policy, said, whole)
			}
		}
	}
}

// TestAGUISchemasTakeKinds checks each kind of event that the schemas accept: the client's form in the shapes that they accept,
// the public form in every shape.
func TestAGUISchemasTakeKinds(t *testing.T) {
	p, kinds := newPlayer(t), aguiKinds()
	file := filepath.Join(t.TempDir(), "kinds.sse")
	judged := 0
	for _, c := range kinds.cases {
		wire := make(map[string]string)
		for _, shape := range kinds.shapes {
			for i, frame := range append(c.before[:len(c.before):len(c.before)], c.frame) {
				wire[shape.name] += shape.wire(i+1, frame)
			}
		}
		if !p.take(wire["without times"]) {
			continue
		}
		for shape, sent := range wire {
			if err := os.WriteFile(file, []byte(sent), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, policy := range harness.Policies {
				if policy == "client" && !p.take(sent) {
					continue
				}
				stream := unplanted(t, kinds.dialect, policy, file)
				frames := harness.Frames(t, stream)
				for i, fault := range p.each(stream) {
					if judged++; fault != "" {
						t.Errorf("%s, %s, %s: %s in %s", c.kind, shape, policy, fault, frames[i].Data)
					}
				}
			}
		}
	}
	if judged < 500 {
		t.Errorf("only %d events were judged", judged)
	}
}

// take reports whether the schemas accept every event of a stream.
func (p *player) take(stream string) bool {
	for _, f := range harness.Frames(p.t, []byte(stream)) {
		if !json.Valid(f.Data) {
			return false
		}
	}
	return !slices.ContainsFunc(p.each([]byte(stream)), func(fault string) bool { return fault != "" })
}

// assistantText returns what assistants said, according to the client.
func assistantText(said playResult) (all string) {
	for _, m := range said.Messages {
		if m.Role == "assistant" {
			all += m.Content
		}
	}
	return all
}

// assistantMessages returns what assistants say in a stream, message by message.
func assistantMessages(t *testing.T, stream []byte) string {
	var order []string
	said := map[string]string{}
	for _, f := range harness.Frames(t, stream) {
		var e struct{ Type, MessageID, Delta string }
		if err := json.Unmarshal(f.Data, &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "TEXT_MESSAGE_START":
			if _, known := said[e.MessageID]; !known {
				order = append(order, e.MessageID)
				said[e.MessageID] = ""
			}
		case "TEXT_MESSAGE_CONTENT":
			said[e.MessageID] += e.Delta
		}
	}
	var all strings.Builder
	for _, id := range order {
		all.WriteString(said[id])
	}
	return all.String()
}

// TestAGUIVerifierRefuses checks that the schemas, the verifier and the client reject invalid streams.
func TestAGUIVerifierRefuses(t *testing.T) {
	p := newPlayer(t)
	for name, stream := range map[string]string{
		"no run":       `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`,
		"still open":   `{"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n\ndata: " + `{"type":"TEXT_MESSAGE_START","messageId":"m"}` + "\n\ndata: " + `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`,
		"no thread":    `{"type":"RUN_STARTED","runId":"r"}`,
		"unknown type": `{"type":"RUN_BEGUN","threadId":"t","runId":"r"}`,
	} {
		if said := p.file([]byte("data: " + stream + "\n\n")); said.Fault == "" {
			t.Errorf("%s: %+v", name, said)
		}
	}
}
