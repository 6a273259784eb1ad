package main

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

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// TestOpenPathLeaksNothing plays recordings on a path that agents share with others, and on one that the configuration names: what stays
// in there stays in here too, except frames that are of no dialect. A recording also begins at each frame of which no dialect is sure,
// as the stream of a client that comes back may, and behind a frame that clients may not have.
func TestOpenPathLeaksNothing(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(sent)
	}))
	t.Cleanup(agent.Close)
	car := launch(t, fmt.Sprintf(`
sources:
  - {name: open, proxy: {listen: "127.0.0.1:0", upstream: %[1]q}}
  - {name: own, proxy: {listen: "127.0.0.1:0", upstream: %[1]q, paths: [/own]}}
`, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	recorded, behind := recordedStreams(t), map[string]bool{}
	for _, file := range slices.Sorted(maps.Keys(recorded)) {
		cuts, dialect := unsureCuts(recorded[file])
		if dialect != "" && !behind[dialect] { // once for each dialect, to save time
			behind[dialect] = true
			cuts = append(cuts, slices.Concat([]byte(withheldFrame), recorded[file]))
		}
		for _, cut := range cuts {
			own := dataOf(echoed(t, car, 1, "/own", cut))
			for _, data := range dataOf(echoed(t, car, 0, "/", cut)) {
				if i := slices.Index(own, data); i >= 0 {
					own = slices.Delete(own, i, i+1)
				} else if mayBeOf(data) {
					t.Errorf("%s: leaves / and not /own: %.300s", file, data)
				}
			}
		}
	}
	car.stop()
}

// echoed sends a stream to the agent, and returns what comes back of it.
func echoed(t *testing.T, car *running, source int, path string, stream []byte) []byte {
	t.Helper()
	resp, err := http.Post("http://"+car.Proxies()[source].Addr+path, "text/plain", bytes.NewReader(stream))
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
	captures, _ := filepath.Glob("../../collector/dialect/*/testdata/*.sse")
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

// maxCuts is how often a recording is cut, to save time: frames of which no dialect is sure are alike.
const maxCuts = 3

// unsureCuts returns a stream from frames on of which no dialect is sure, and the name of the dialect that is sure of another frame. A
// stream without such a frame is no dialect's, and passes.
func unsureCuts(stream []byte) (cuts [][]byte, sure string) {
	offset := int64(0)
	frames := sse.NewReader(bytes.NewReader(stream), 0)
	for sure == "" || len(cuts) < maxCuts {
		frame, err := frames.Next()
		if err != nil {
			break
		}
		detector := dialect.NewDetector(collector.Dialects(), dialect.Sure)
		found := asked(detector, frame)
		switch {
		case found != nil:
			sure = found.Name()
		case len(detector.Unsure()) > 0 && len(cuts) < maxCuts:
			cuts = append(cuts, stream[offset:])
		}
		offset = frames.Offset()
	}
	if sure == "" {
		return nil, ""
	}
	return cuts, sure
}

func asked(detector *dialect.Detector, frame sse.Frame) dialect.Dialect {
	b := &event.Batch{}
	b.Begin(&event.Stream{}, frame, b.Received)
	malformed := b.Parse(100)
	return detector.Ask(dialect.Frame{Frame: b.Frame, JSON: b.JSON, Malformed: malformed})
}

// mayBeOf reports whether a frame of this data may be some dialect's. What is no JSON passes on a shared path.
func mayBeOf(data string) bool {
	detector := dialect.NewDetector(collector.Dialects(), dialect.Sure)
	return json.Valid([]byte(data)) && (asked(detector, sse.Frame{Data: []byte(data)}) != nil || len(detector.Unsure()) > 0)
}

// withheldFrame is a frame that AG-UI's policy withholds and that does not show by itself that it is AG-UI's.
const withheldFrame = "data: {\"type\":\"RAW\",\"event\":{\"x\":\"CANARY\"}}\n\n"
