package adkserver

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the servers' streams to testdata/captures")

// TestPython checks the streams of the installed Python server.
func TestPython(t *testing.T) { testServer(t, "python", StartPython(t, NewFakeModel(t))) }

// TestJS checks the streams of the installed JavaScript server.
func TestJS(t *testing.T) { testServer(t, "js", StartJS(t, NewFakeModel(t))) }

func testServer(t *testing.T, language string, server *Server) {
	for _, name := range Cases() {
		for file, streaming := range map[string]bool{name + ".sse": false, name + ".stream.sse": true} {
			t.Run(file, func(t *testing.T) {
				server.CreateSession(t, App, "user-1", file)
				body := run(t, server, RunRequest("user-1", file, "case:"+name, streaming))
				checkStream(t, language, file, body)
			})
		}
	}
	for name, response := range map[string]map[string]any{
		"confirmation":        {"confirmed": true},
		"long_running":        {"status": "approved"},
		"long_running_silent": {"status": "signed"},
	} {
		file := name + ".answered.sse"
		t.Run(file, func(t *testing.T) {
			server.CreateSession(t, App, "user-1", file)
			asked := run(t, server, RunRequest("user-1", file, "case:"+name, false))
			id, function := openCall(t, asked)
			body := run(t, server, AnswerRequest("user-1", file, id, function, response))
			checkStream(t, language, file, body)
			same := decode(t, asked)[0].InvocationID == decode(t, body)[0].InvocationID
			if same != (language == "python") {
				t.Errorf("the run that gets the answer has the invocation id of the first run: %t, want %t", same, !same)
			}
		})
	}
}

func run(t *testing.T, server *Server, request []byte) []byte {
	t.Helper()
	response, err := http.Post(server.URL+"/run_sse", "application/json", bytes.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	kind := response.Header.Get("Content-Type")
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		t.Fatalf("%s %s: %s", response.Status, kind, body)
	}
	return body
}

func checkStream(t *testing.T, language, file string, body []byte) {
	t.Helper()
	if *update {
		path := filepath.Join("testdata", "captures", language, file)
		if err := os.WriteFile(path, body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := shapeDiff(t, language, file, body); diff != "" {
		t.Errorf("%s\n%s", diff, body)
	}
}

// TestCaptures checks the recorded streams. It needs no server.
func TestCaptures(t *testing.T) {
	for _, language := range []string{"python", "js"} {
		paths, err := filepath.Glob(filepath.Join("testdata", "captures", language, "*.sse"))
		if err != nil || len(paths) != 2*len(Cases())+3 {
			t.Fatalf("%d captures of %s for %d cases (%v)", len(paths), language, len(Cases()), err)
		}
		for _, path := range paths {
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := shapeDiff(t, language, filepath.Base(path), body); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
		}
	}
}

func shapeDiff(t *testing.T, language, file string, body []byte) string {
	t.Helper()
	frames := decode(t, body)
	if len(frames) == 0 {
		return "no frames"
	}
	want, got := wantShape(language, file), shape(frames)
	if want != got {
		return fmt.Sprintf("got:\n%s\nwant:\n%s", got, want)
	}
	for _, f := range frames {
		if f.Error == "" && f.InvocationID != frames[0].InvocationID {
			return "more than one invocation id"
		}
	}
	partials := slices.ContainsFunc(frames, func(f frame) bool { return f.Partial })
	if partials && !strings.HasSuffix(file, ".stream.sse") {
		return "partial frames without streaming"
	}
	return ""
}

// frame has the members of an ADK event or error frame that its shape depends on.
type frame struct {
	Error              string
	InvocationID       string
	Author             string
	Partial            bool
	Content            struct{ Parts []framePart }
	ErrorCode          string
	LongRunningToolIDs []string
	Actions            struct {
		TransferToAgent string
		ArtifactDelta   map[string]int
	}
}

type framePart struct {
	Text             string
	Thought          bool
	FunctionCall     *struct{ ID, Name string }
	FunctionResponse *struct {
		Name     string
		Response map[string]any
	}
}

// decode parses a stream strictly: both servers write exactly one data line per frame.
func decode(t *testing.T, body []byte) []frame {
	t.Helper()
	text, ended := strings.CutSuffix(string(body), "\n\n")
	if !ended {
		t.Fatalf("the stream does not end with a blank line: %q", body)
	}
	var frames []frame
	for block := range strings.SplitSeq(text, "\n\n") {
		data, found := strings.CutPrefix(block, "data: ")
		if !found || strings.ContainsAny(data, "\n\r") {
			t.Fatalf("not one data line: %q", block)
		}
		var f frame
		if err := json.Unmarshal([]byte(data), &f); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		frames = append(frames, f)
	}
	return frames
}

func openCall(t *testing.T, body []byte) (id, function string) {
	t.Helper()
	for _, f := range decode(t, body) {
		for _, p := range f.Content.Parts {
			if p.FunctionCall != nil && slices.Contains(f.LongRunningToolIDs, p.FunctionCall.ID) {
				return p.FunctionCall.ID, p.FunctionCall.Name
			}
		}
	}
	t.Fatalf("no open call: %s", body)
	return "", ""
}

// shape describes a stream with one line for each frame that is not partial. It mentions partial texts that
// do not add up to the whole text.
func shape(frames []frame) string {
	var lines []string
	partial := ""
	for _, f := range frames {
		facts, text := describe(f)
		if f.Partial {
			partial += text
			continue
		}
		if partial != "" && text != "" && partial != text {
			facts = append(facts, fmt.Sprintf("after the partial text %q", partial))
		}
		if text != "" {
			partial = ""
		}
		if len(facts) > 0 {
			lines = append(lines, strings.TrimSpace(f.Author+" "+strings.Join(facts, ", ")))
		}
	}
	if partial != "" {
		lines = append(lines, fmt.Sprintf("unfinished text %q", partial))
	}
	return strings.Join(lines, "\n")
}

func describe(f frame) (facts []string, text string) {
	for _, p := range f.Content.Parts {
		switch {
		case p.FunctionCall != nil && slices.Contains(f.LongRunningToolIDs, p.FunctionCall.ID):
			facts = append(facts, "asks "+p.FunctionCall.Name)
		case p.FunctionCall != nil:
			facts = append(facts, "calls "+p.FunctionCall.Name)
		case p.FunctionResponse != nil && p.FunctionResponse.Response["error"] != nil:
			facts = append(facts, "failed "+p.FunctionResponse.Name)
		case p.FunctionResponse != nil:
			facts = append(facts, "answered "+p.FunctionResponse.Name)
		case p.Thought:
			facts = append(facts, fmt.Sprintf("thinks %q", p.Text))
		default:
			facts = append(facts, fmt.Sprintf("says %q", p.Text))
		}
		text += p.Text
	}
	for _, name := range slices.Sorted(maps.Keys(f.Actions.ArtifactDelta)) {
		facts = append(facts, "saves "+name)
	}
	if f.Actions.TransferToAgent != "" {
		facts = append(facts, "transfers to "+f.Actions.TransferToAgent)
	}
	if f.ErrorCode != "" {
		facts = append(facts, "fails with "+f.ErrorCode)
	}
	if f.Error != "" {
		facts = append(facts, "error frame")
	}
	return facts, text
}
