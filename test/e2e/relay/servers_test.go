package relay_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// servers is the folder with the recordings of real servers; its README.md explains how they were made.
const servers = "../../../test/agents/servers"

// plannedStream is the entry for a response in a server's streams.json.
type plannedStream struct {
	Name    string
	Runs    *int     // the number of runs that its client saw; nil if the response does not tell
	Ended   string   // the status of the run; "" means completed, unless the client left
	Agents  []string // that worked, if the stream tells
	Tools   []string // that were called and returned
	Refused []string // tools whose call failed before anything ran
	Leave   int      // the client left after this many frames
	Second  string   // the stream that another client already listened to
	During  []plannedStream
}

// exchange is a recorded request with its response.
type exchange struct {
	request *http.Request
	asked   []byte
	status  int
	header  http.Header
	body    []byte
}

// TestRecordedServers sends the responses of real servers through a default proxy: their clients get the same frames, and the
// telemetry has the right runs.
func TestRecordedServers(t *testing.T) {
	plans, err := filepath.Glob(servers + "/*/streams.json")
	if err != nil || len(plans) == 0 {
		t.Fatal("no recordings: ", err)
	}
	for _, plan := range plans {
		server := filepath.Base(filepath.Dir(plan))
		t.Run(server, func(t *testing.T) {
			for _, stream := range streamsOf(t, plan) {
				t.Run(stream.Name, func(t *testing.T) {
					found := playServer(t, server, stream)
					expectKnown(t, server+"/"+stream.Name, found)
				})
			}
		})
	}
}

func streamsOf(t *testing.T, plan string) (named []plannedStream) {
	t.Helper()
	text, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	var planned struct{ Streams []plannedStream }
	if err := json.Unmarshal(text, &planned); err != nil {
		t.Fatal(plan, err)
	}
	for _, stream := range planned.Streams {
		if stream.Name != "" {
			named = append(named, stream)
		}
	}
	return named
}

// expectKnown compares the faults of a stream with the known ones.
func expectKnown(t *testing.T, name string, found []string) {
	t.Helper()
	item, known := knownFaults[name]
	switch {
	case len(found) > 0 && !known:
		t.Error(strings.Join(found, "\n"))
	case len(found) > 0:
		t.Logf("known, item %s: %s", item, strings.Join(found, "\n"))
	case known:
		t.Errorf("the fault is gone: remove %q from knownFaults", name)
	}
}

// playServer returns what is wrong with the responses that clients got of a recording, and with the telemetry.
func playServer(t *testing.T, server string, stream plannedStream) (wrong []string) {
	played := []plannedStream{stream}
	for _, during := range stream.During {
		if during.Name != "" {
			played = append(played, during)
		}
	}
	answers := make([]exchange, len(played))
	for i, p := range played {
		answers[i] = readAnswered(t, filepath.Join(servers, server, "recordings", p.Name+".http"))
	}
	agent := newRecordedServer(answers)
	defer agent.Close()
	service := harness.Launch(t, fmt.Sprintf(defaultProxy, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	got := make([]chan exchange, len(answers))
	for i, answer := range answers {
		got[i] = make(chan exchange, 1)
		begun := make(chan struct{})
		go func() { got[i] <- ask(t, service.Address(), answer, begun) }()
		<-begun
		<-agent.begun[i]
	}
	for i, answer := range answers {
		for _, fault := range compare(answer, <-got[i]) {
			wrong = append(wrong, played[i].Name+": "+fault)
		}
	}
	service.Stop()
	return append(wrong, judgeRuns(t, service, stream)...)
}

const defaultProxy = `
sources:
  - {name: app, proxy: {listen: "127.0.0.1:0", upstream: %q}}
`

// recordedServer answers the nth request with the nth recording. The first one pauses in its middle until all others have been
// answered.
type recordedServer struct {
	*httptest.Server
	begun []chan struct{}
}

func newRecordedServer(answers []exchange) *recordedServer {
	r := &recordedServer{begun: make([]chan struct{}, len(answers))}
	ended := make(chan struct{}, len(answers))
	for i := range answers {
		r.begun[i] = make(chan struct{})
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		n := slices.IndexFunc(r.begun, func(begun chan struct{}) bool {
			select {
			case <-begun:
				return false
			default:
				return true
			}
		})
		for name, values := range answers[n].header {
			w.Header()[name] = values
		}
		w.WriteHeader(answers[n].status)
		first, rest := halves(answers[n].body)
		_, _ = w.Write(first)
		_ = http.NewResponseController(w).Flush()
		close(r.begun[n])
		for range len(answers) - 1 {
			if n == 0 {
				<-ended
			}
		}
		_, _ = w.Write(rest)
		if n > 0 {
			ended <- struct{}{}
		}
	}))
	return r
}

// halves cuts a stream after its second frame.
func halves(body []byte) (first, rest []byte) {
	at := 0
	for range 2 {
		for _, end := range []string{"\n\n", "\r\n\r\n"} {
			if i := bytes.Index(body[at:], []byte(end)); i >= 0 {
				at += i + len(end)
				break
			}
		}
	}
	return body[:at], body[at:]
}

func readAnswered(t *testing.T, file string) exchange {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(bytes.NewReader(text))
	request, err := http.ReadRequest(r)
	if err != nil {
		t.Fatal(file, err)
	}
	asked, err := io.ReadAll(request.Body)
	if err != nil {
		t.Fatal(file, err)
	}
	for { // skip the blank lines between a request and its response
		if next, err := r.Peek(1); err != nil || next[0] != '\n' {
			break
		}
		_, _ = r.Discard(1)
	}
	response, err := http.ReadResponse(r, request)
	if err != nil {
		t.Fatal(file, err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(file, err)
	}
	return exchange{request, asked, response.StatusCode, response.Header, body}
}

// ask sends a recorded request to the proxy and returns the response. begun is closed when its first bytes have come, or when it
// has failed.
func ask(t *testing.T, address string, recorded exchange, begun chan<- struct{}) exchange {
	begins := sync.OnceFunc(func() { close(begun) })
	defer begins()
	request, err := http.NewRequestWithContext(t.Context(), recorded.request.Method, address+recorded.request.URL.RequestURI(), bytes.NewReader(recorded.asked))
	if err != nil {
		t.Error(err)
		return exchange{}
	}
	request.Header = recorded.request.Header.Clone()
	response, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		t.Error(err)
		return exchange{}
	}
	defer response.Body.Close()
	body := bufio.NewReader(response.Body)
	_, _ = body.Peek(1)
	begins()
	all, err := io.ReadAll(body)
	if err != nil {
		t.Error(err)
	}
	return exchange{status: response.StatusCode, header: response.Header, body: all}
}

// compare returns how a response through the proxy differs from the agent's own, apart from allowed differences.
func compare(sent, got exchange) (differences []string) {
	if got.status != sent.status {
		differences = append(differences, fmt.Sprintf("the status is %d, sent was %d", got.status, sent.status))
	}
	for name := range sent.header {
		if want, is := sent.header.Get(name), got.header.Get(name); is != want {
			differences = append(differences, fmt.Sprintf("the header %s is %q, sent was %q", name, is, want))
		}
	}
	if !strings.HasPrefix(sent.header.Get("Content-Type"), "text/event-stream") {
		if !bytes.Equal(got.body, sent.body) && !isCard(sent) {
			differences = append(differences, "the body differs")
		}
		return differences
	}
	want, is := allowed(readFrames(sent.body)), normal(readFrames(got.body))
	for i := range want {
		if i >= len(is) || is[i] != want[i] {
			had := "nothing"
			if i < len(is) {
				had = fmt.Sprintf("%.200q", is[i])
			}
			return append(differences, fmt.Sprintf("%d frames of %d: frame %d is %s, sent was %.200q", len(is), len(want), i, had, want[i]))
		}
	}
	if len(is) > len(want) {
		differences = append(differences, fmt.Sprintf("%d frames of %d", len(is), len(want)))
	}
	return differences
}

// clientFrame is a frame as a client reads it.
type clientFrame struct{ event, id, data string }

func readFrames(stream []byte) (all []clientFrame) {
	frames := sse.NewReader(bytes.NewReader(stream), 0)
	for {
		frame, err := frames.Next()
		if err != nil {
			return all
		}
		name := string(frame.Event)
		if name == "message" { // like a frame without a name
			name = ""
		}
		all = append(all, clientFrame{name, string(frame.ID), string(frame.Data)})
	}
}

// normal rewrites the same frames as allowed does, for comparison.
func normal(got []clientFrame) []clientFrame {
	for i, f := range got {
		var data map[string]json.RawMessage
		if json.Unmarshal([]byte(f.data), &data) == nil && string(data["type"]) == `"MESSAGES_SNAPSHOT"` {
			text, _ := json.Marshal(data)
			got[i].data = string(text)
		}
	}
	return got
}

// judgeRuns returns how the telemetry differs from the plan.
func judgeRuns(t *testing.T, service *harness.Service, stream plannedStream) (wrong []string) {
	runs := service.Recent.Reports()
	if errors := service.Count(t, "delegraph_parse_errors_total"); errors > 0 {
		wrong = append(wrong, fmt.Sprintf("%g parse errors", errors))
	}
	if stream.Runs == nil {
		return wrong
	}
	if len(runs) != *stream.Runs {
		return append(wrong, fmt.Sprintf("%d runs, want %d: %s", len(runs), *stream.Runs, listRuns(runs)))
	}
	if len(runs) != 1 || stream.Leave > 0 {
		return wrong
	}
	return append(wrong, judgeRun(runs[0], stream)...)
}

func judgeRun(run tracker.Report, stream plannedStream) (wrong []string) {
	ended := cmp.Or(stream.Ended, "completed")
	if string(run.Status) != ended {
		wrong = append(wrong, fmt.Sprintf("the run is %s (%s), it was %s", run.Status, harness.Text(run.StatusReason), ended))
	}
	var agents, tools []string
	for _, op := range run.Operations {
		switch op.Kind {
		case "invoke_agent":
			agents = append(agents, harness.Text(op.Name))
		case "execute_tool":
			tools = append(tools, harness.Text(op.Name))
			if slices.Contains(stream.Tools, harness.Text(op.Name)) && op.Status == "unfinished" {
				wrong = append(wrong, fmt.Sprintf("the tool %s is %s", harness.Text(op.Name), op.Status))
			}
			if slices.Contains(stream.Refused, harness.Text(op.Name)) {
				wrong = append(wrong, judgeRefused(run, op)...)
			}
		}
	}
	for _, agent := range stream.Agents {
		if !slices.Contains(agents, agent) {
			wrong = append(wrong, fmt.Sprintf("no agent is %s, but %q", agent, agents))
		}
	}
	for _, tool := range stream.Tools {
		if !slices.Contains(tools, tool) {
			wrong = append(wrong, fmt.Sprintf("no tool is %s, but %q", tool, tools))
		}
	}
	return wrong
}

// judgeRefused returns what is wrong with a call that was refused: it must have failed, and nothing may have run in it.
func judgeRefused(run tracker.Report, call tracker.OperationReport) (wrong []string) {
	if call.Status != tracker.OperationError {
		wrong = append(wrong, fmt.Sprintf("the refused %s is %s", harness.Text(call.Name), call.Status))
	}
	for _, op := range run.Operations {
		if harness.Text(op.Parent) == call.ID {
			wrong = append(wrong, fmt.Sprintf("%s %s ran in the refused %s", op.Kind, harness.Text(op.Name), harness.Text(call.Name)))
		}
	}
	return wrong
}

func listRuns(runs []tracker.Report) string {
	var all []string
	for _, run := range runs {
		all = append(all, fmt.Sprintf("%s %s (%s)", run.Dialect, run.Status, harness.Text(run.StatusReason)))
	}
	return strings.Join(all, ", ")
}
