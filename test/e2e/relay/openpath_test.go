package relay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestOpenPathLeaksNothing sends recordings on a path that agents share with others, and on a configured path. A frame
// that is withheld on the configured path must also be withheld on the shared path, unless it is of no dialect.
//
// Recordings are also sent in two other forms. The first starts at a frame that no dialect recognizes for sure, as
// the stream of a client that resumes may begin. The second starts after a frame that clients may not get.
func TestOpenPathLeaksNothing(t *testing.T) {
	service := harness.Launch(t, fmt.Sprintf(`
sources:
  - {name: open, proxy: {listen: "127.0.0.1:0", upstream: %[1]q}}
  - {name: own, proxy: {listen: "127.0.0.1:0", upstream: %[1]q, paths: [/own]}}
`, newEcho(t).URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	recorded, behind := recordedStreams(t), map[string]bool{}
	for _, file := range slices.Sorted(maps.Keys(recorded)) {
		cuts, dialect := unsureCuts(recorded[file])
		// Once for each dialect, to save time. In chat-choices.sse a choice has no role, so after a frame that cannot be read it is
		// withheld if the stream is an agent's from its beginning.
		if dialect != "" && !behind[dialect] && !strings.HasSuffix(file, "chat-choices.sse") {
			behind[dialect] = true
			cuts = append(cuts, slices.Concat([]byte(withheldFrame), recorded[file]))
		}
		for _, cut := range cuts {
			own := dataOf(echo(t, service, 1, "/own", cut))
			for _, data := range dataOf(echo(t, service, 0, "/", cut)) {
				isPublicError := data == `{"error":"Error","message":"the run failed"}` // a stream on / may join a run, so its error may quote
				if i := slices.Index(own, data); i >= 0 {
					own = slices.Delete(own, i, i+1)
				} else if mayBeOf(data) && !isPublicError {
					t.Errorf("%s: passes on / but not on /own: %.300s", file, data)
				}
			}
		}
	}
	service.Stop()
}

// TestSharedPathsUnderPublic sends recordings to a public proxy, on a path that the configuration names, and on paths that agents of any
// protocol have. The same leaves.
func TestSharedPathsUnderPublic(t *testing.T) {
	service := harness.Launch(t, fmt.Sprintf(`
sources:
  - {name: shared, proxy: {listen: "127.0.0.1:0", upstream: %[1]q}, policy: public}
  - {name: own, proxy: {listen: "127.0.0.1:0", upstream: %[1]q, paths: [/own]}, policy: public}
`, newEcho(t).URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	recorded := recordedStreams(t)
	for _, file := range slices.Sorted(maps.Keys(recorded)) {
		own := echo(t, service, 1, "/own", recorded[file])
		for _, path := range []string{"/", "/invocations"} {
			if diff := cmp.Diff(dataOf(own), dataOf(echo(t, service, 0, path, recorded[file]))); diff != "" {
				t.Errorf("%s: on %s leaves something else than on /own: %.600s", file, path, diff)
			}
		}
	}
	service.Stop()
}

// newEcho starts an agent that answers with what it is sent.
func newEcho(t *testing.T) *httptest.Server {
	t.Helper()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(sent)
	}))
	t.Cleanup(agent.Close)
	return agent
}

// echo sends a stream to the agent and returns what comes back through the proxy.
func echo(t *testing.T, service *harness.Service, source int, path string, stream []byte) []byte {
	t.Helper()
	resp, err := http.Post("http://"+service.Proxies()[source].Addr+path, "text/plain", bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func dataOf(stream []byte) (all []string) {
	for _, f := range readFrames(stream) {
		all = append(all, f.data)
	}
	return all
}

// recordedStreams returns the event streams of all captures and of all recorded servers, by file.
func recordedStreams(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	captures, _ := filepath.Glob("../../../collector/dialect/*/testdata/*.sse")
	for _, file := range captures {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = text
	}
	answers, _ := filepath.Glob(servers + "/*/recordings/*.http")
	for _, file := range answers {
		if answer := readAnswered(t, file); strings.Contains(answer.header.Get("Content-Type"), "event-stream") {
			all[file] = answer.body
		}
	}
	if len(captures) == 0 || len(answers) == 0 {
		t.Fatal("no recordings")
	}
	return all
}

// maxCuts limits the cuts of a recording, to save time: frames of which no dialect is sure are alike.
const maxCuts = 3

// unsureCuts returns the rests of a stream that begin with a frame of which no dialect is sure, and the dialect that is sure of
// another frame. A stream without a frame of the latter kind has no dialect and passes.
func unsureCuts(stream []byte) (cuts [][]byte, sure string) {
	offset := int64(0)
	frames := sse.NewReader(bytes.NewReader(stream), 0)
	for sure == "" || len(cuts) < maxCuts {
		frame, err := frames.Next()
		if err != nil {
			break
		}
		detector := dialect.NewDetector(collector.Dialects(), dialect.Sure)
		found := detect(detector, frame)
		switch {
		case found != nil:
			sure = found.Name()
		case len(detector.Candidates()) > 0 && len(cuts) < maxCuts:
			cuts = append(cuts, stream[offset:])
		}
		offset = frames.Offset()
	}
	if sure == "" {
		return nil, ""
	}
	return cuts, sure
}

func detect(detector *dialect.Detector, frame sse.Frame) dialect.Dialect {
	b := &event.Batch{}
	b.Begin(&event.Stream{}, frame, b.Received)
	malformed := b.Parse(100)
	return detector.Detect(dialect.Frame{Frame: b.Frame, JSON: b.JSON, Malformed: malformed})
}

// mayBeOf reports whether a frame with this data may belong to a dialect. Data that is not JSON passes on a shared path.
func mayBeOf(data string) bool {
	detector := dialect.NewDetector(collector.Dialects(), dialect.Sure)
	return json.Valid([]byte(data)) && (detect(detector, sse.Frame{Data: []byte(data)}) != nil || len(detector.Candidates()) > 0)
}

// withheldFrame is a frame that AG-UI's policy withholds but that cannot be recognized as AG-UI's on its own.
const withheldFrame = "data: {\"type\":\"RAW\",\"event\":{\"x\":\"CANARY\"}}\n\n"

// TestUnendedEvent ends a stream without the blank line after its last event, as servers do that join their events. Clients such as
// @ag-ui/client read it, so it passes without a blank line, and the run has ended.
func TestUnendedEvent(t *testing.T) {
	service := harness.Launch(t, fmt.Sprintf(`
sources:
  - {name: filtered, proxy: {listen: "127.0.0.1:0", upstream: %[1]q, paths: [/agui]}, dialect: agui}
  - {name: verbatim, proxy: {listen: "127.0.0.1:0", upstream: %[1]q, paths: [/agui]}, dialect: agui, relay: verbatim}
`, newEcho(t).URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	const begun = `data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n\n"
	for last, passes := range map[string]bool{
		`data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}` + "\n":                  true,
		`data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"`:                          false,
		`data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}` + "\nevent: intern":     false,
		`data: {"type":"internal:x","threadId":"t","runId":"r"}` + "\n":                    false,
		"event: internal:x\n" + `data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}`: false,
	} {
		want := begun
		if passes {
			want += `data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}` + "\n"
		}
		if got := string(echo(t, service, 0, "/agui", []byte(begun+last))); got != want {
			t.Errorf("after %q the client has %q", last, got)
		}
		echo(t, service, 1, "/agui", []byte(begun+last))
	}
	service.Stop()
	ended := map[string]int{}
	for _, r := range service.Recent.Reports() {
		ended[fmt.Sprint(r.Source, " ", r.Status)]++
	}
	want := map[string]int{"filtered completed": 2, "filtered incomplete": 3, "verbatim completed": 2, "verbatim incomplete": 3}
	if diff := cmp.Diff(want, ended); diff != "" {
		t.Error(diff)
	}
}
