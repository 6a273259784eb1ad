package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
)

// dying is an agent that serves every capture of Looopy's, by its name, once somebody listens to the sidecar: half of it and some
// more, then, to whoever comes back, the rest, then nothing.
type dying struct {
	*httptest.Server
	heard  chan struct{}
	blocks map[string][]string // frames and comments
	wanted []string            // what is for its client, as event name and data
	frames int

	mu    sync.Mutex
	asked map[string]int
	fault string
}

func newDying(t *testing.T) *dying {
	t.Helper()
	d := &dying{heard: make(chan struct{}), blocks: map[string][]string{}, asked: map[string]int{}}
	for _, file := range sseFiles(t, captures["looopy"]) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d.blocks[filepath.Base(file)] = strings.SplitAfter(string(content), "\n\n")
		d.wanted = append(d.wanted, outside(t, content)...)
		d.frames += len(payloads(t, content))
	}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *dying) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	<-d.heard
	name := filepath.Base(r.URL.Path)
	blocks := d.blocks[name]
	half := len(blocks) / 2
	d.mu.Lock()
	d.asked[name]++
	asked := d.asked[name]
	d.mu.Unlock()
	first, rest := strings.Join(blocks[:half], ""), strings.Join(blocks[half:], "")
	if asked > 2 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "retry: 1\n\n")
	if asked == 1 {
		_, _ = io.WriteString(w, first+rest[:min(len(rest), 30)])
		return
	}
	if last := r.Header.Get("Last-Event-ID"); !strings.Contains(first+"id: \n", "id: "+last+"\n") {
		d.mu.Lock()
		d.fault = fmt.Sprintf("%s: came back with %q", name, last)
		d.mu.Unlock()
	}
	_, _ = io.WriteString(w, rest)
}

// left reads frames of the external stream after an id; "" is from now on.
type left struct {
	body   io.Closer
	frames *sse.Reader
}

func (r *running) leaving(t *testing.T, last string) left {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.StreamAddr()+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal("no external stream: ", resp, err)
	}
	return left{resp.Body, sse.NewReader(resp.Body, 0)}
}

// take returns so many frames, as id, event name and data, and leaves.
func (l left) take(t *testing.T, n int) (all []string) {
	t.Helper()
	defer l.body.Close()
	for range n {
		f, err := l.frames.Next()
		if err != nil {
			t.Fatalf("%v after %d frames of %d", err, len(all), n)
		}
		all = append(all, fmt.Sprintf("%s|%s %s", f.ID, f.Event, f.Data))
	}
	return all
}

// TestNoCanaryOfLooopyLeaves tails every capture at once, each interrupted in the middle of a frame: a reader who listens gets all
// that is for him and nothing internal, also where upstream's own filter and replay let it pass, and so does whoever comes back
// with any id.
func TestNoCanaryOfLooopyLeaves(t *testing.T) {
	for _, policy := range []string{"client", "public"} {
		t.Run(policy, func(t *testing.T) {
			agent := newDying(t)
			configured := fmt.Sprintf("stream: {listen: \"127.0.0.1:0\", policy: %s, thoughts: detailed}\nsources:\n", policy)
			for name := range agent.blocks {
				source := strings.TrimSuffix(name, ".sse")
				configured += fmt.Sprintf("  - {name: %q, dialect: looopy, tail: {url: \"%s/events/%s?filterInternal=false\"}}\n", source, agent.URL, name)
			}
			car := launch(t, configured, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			listening := car.leaving(t, "")
			close(agent.heard)
			await(t, func(context.Context) error {
				left, kept := car.Replay().Frames, car.count(t, "delegraph_stream_frames_dropped_total")
				if left+int(kept) != agent.frames {
					return fmt.Errorf("of %d frames %d left and %v stay in", agent.frames, left, kept)
				}
				return nil
			})
			agent.mu.Lock()
			fault := agent.fault
			agent.mu.Unlock()
			if fault != "" {
				t.Error(fault)
			}
			published := car.Replay().Frames
			live := listening.take(t, published)
			if policy == "client" {
				var got []string
				for _, frame := range live {
					_, said, _ := strings.Cut(frame, "|")
					got = append(got, said)
				}
				slices.Sort(got)
				slices.Sort(agent.wanted)
				if !slices.Equal(got, agent.wanted) {
					t.Errorf("%d frames leave, %d are for clients", len(got), len(agent.wanted))
				}
			}
			for k := 0; k < published-1; k += 1 + published/20 {
				id, _, _ := strings.Cut(live[k], "|")
				if again := car.leaving(t, id).take(t, published-k-1); !slices.Equal(again, live[k+1:]) {
					t.Errorf("who comes back after frame %d gets something else", k+1)
				}
			}
			gap := car.leaving(t, "of-another-epoch").take(t, published+1)
			if !strings.Contains(gap[0], "delegraph.gap") || !slices.Equal(gap[1:], live) {
				t.Errorf("who comes back from elsewhere gets %s and %d frames", gap[0], len(gap)-1)
			}
			if all := strings.Join(live, "\n") + strings.Join(gap, "\n"); published < 100 || bytes.Contains([]byte(all), looopyCanary) || strings.Contains(all, "internal:") {
				t.Errorf("of %d frames something internal leaves", published)
			}
		})
	}
}

// planted are frames that nobody may get, by dialect: some for after each frame of a capture, whose meaning they do not change, and
// some for after the last.
var planted = map[string]struct{ between, after []string }{
	"a2a": {
		[]string{
			`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"internal:x","x":"CANARY"}}`,
			`data: {"kind":"surprise-update","x":"CANARY"}`,
			`data: {"surpriseUpdate":{"x":"CANARY"}}`,
			"event: internal:x\ndata: {\"kind\":\"internal:x\",\"x\":\"CANARY\"}",
			`data: {"jsonrpc":"2.0","id":1,"result":{"tools":["CANARY"]}}`,
		},
		[]string{
			`data: {"statusUpdate":{"taskId":"CANARY","status":{"state":"TASK_STATE_COMPLETED"},"metadata":{"type":"internal:x"}}}`,
			`data: {"message":{"messageId":"m","role":"ROLE_AGENT","content":[{"kind":"internal:x","text":"CANARY"}]}}`,
			"event: internal-tick\ndata: {\"statusUpdate\":{\"taskId\":\"CANARY\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\"}}}",
		},
	},
	"agui": {
		[]string{
			`data: {"type":"RAW","event":{"x":"CANARY"}}`,
			`data: {"type":"internal:STEP_STARTED","stepName":"CANARY"}`,
			`data: {"type":"SURPRISE","x":"CANARY"}`,
			"event: internal:x\ndata: {\"type\":\"RAW\",\"event\":\"CANARY\"}",
		},
		[]string{
			`data: {"type":"TEXT_MESSAGE_START","messageId":"sys","role":"system","name":"CANARY"}`,
			`data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"sys","delta":"CANARY"}`,
			`data: {"type":"TEXT_MESSAGE_END","messageId":"sys","x":"CANARY"}`,
			`data: {"type":"TEXT_MESSAGE_CHUNK","messageId":"dev","role":"developer","delta":"CANARY"}`,
			`data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"stray","delta":"CANARY"}`,
			`data: {"type":"MESSAGES_SNAPSHOT","messages":"CANARY"}`,
			`data: {"type":"CUSTOM","kind":"internal:x","name":"CANARY"}`,
			`data: {"type":"CUSTOM","name":"CANARY","rawEvent":{"type":"internal:x"}}`,
		},
	},
}

// unpublic are the members, by dialect, of which nothing may be in the public stream.
var unpublic = map[string][]string{
	"a2a": {
		"history", "args", "response", "bytes", "raw", "uri", "url", "fileWithBytes", "fileWithUri", "description", "adk_actions",
		"adk_usage_metadata", "adk_session_id", "adk_user_id", "adk_app_name", "adk_error_code",
	},
	"agui": {"input", "rawEvent", "metadata", "event", "snapshot", "messages", "result", "usage", "encryptedValue", "code"},
}

// inDoubt is how many frames of a capture stay in where frames of unknown types stand among them: chunks that do not say of which
// message they are, and results of calls that another stream made. Their beginning may have been in what nobody could read.
var inDoubt = map[string]int{
	"client made-interrupt.sse": 1, "public made-interrupt.sse": 1, "client made-resumed.sse": 1, "public made-resumed.sse": 1,
	"client made-subagents.sse": 3, "public made-subagents.sse": 2,
}

// missing is how many of the frames wanted did not come, or -1 where others did.
func missing(want, got []string) int {
	at := 0
	for _, w := range want {
		if at < len(got) && got[at] == w {
			at++
		}
	}
	if at != len(got) {
		return -1
	}
	return len(want) - len(got)
}

var frameEnd = regexp.MustCompile(`\r\n\r\n|\n\n|\r\r`)

// TestNothingPlantedLeaves has agents send every capture with frames among its own that nobody may get. The relay's client and
// whoever reads the external stream get what they would get without these, but for what is then in doubt.
func TestNothingPlantedLeaves(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		family, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/agent/"), "/")
		content, err := os.ReadFile(filepath.Join(captures[family], name))
		if err != nil {
			t.Error(err)
		}
		plants := planted[family]
		sent := frameEnd.ReplaceAllString(string(content), "${0}"+strings.Join(plants.between, "\n\n")+"\n\n")
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, sent, strings.Join(plants.after, "\n\n"), "\n\n")
	}))
	defer agent.Close()
	for policy, thoughts := range map[string]string{"client": "detailed", "public": "none"} {
		t.Run(policy, func(t *testing.T) {
			configured := fmt.Sprintf("stream: {listen: \"127.0.0.1:0\", policy: %s, thoughts: %s}\nsources:\n", policy, thoughts)
			families := []string{"a2a", "agui"}
			for _, family := range families {
				configured += fmt.Sprintf("  - {name: %[1]s, dialect: %[1]s, policy: %[2]s, proxy: {listen: \"127.0.0.1:0\", upstream: %[3]q, paths: [/agent/*/*]}}\n", family, policy, agent.URL)
			}
			car := launch(t, configured, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			listening := car.leaving(t, "")
			var published []string
			for i, family := range families {
				for _, file := range sseFiles(t, captures[family]) {
					want := payloads(t, unplanted(t, family, policy, file))
					resp, err := http.Post("http://"+car.Proxies()[i].Addr+"/agent/"+family+"/"+filepath.Base(file), "application/json", strings.NewReader(`{}`))
					if err != nil {
						t.Fatal(err)
					}
					whole, err := io.ReadAll(resp.Body)
					_ = resp.Body.Close()
					if err != nil {
						t.Fatal(err)
					}
					got := framesOf(t, whole)
					car.Wait()
					var data []string
					for _, f := range got {
						data = append(data, string(f.Data))
						if strings.Contains(string(f.Event)+string(f.ID)+string(f.Data), "CANARY") {
							t.Errorf("%s: %s reaches its client", filepath.Base(file), f.Data)
						}
					}
					if lost := missing(want, data); lost != inDoubt[policy+" "+filepath.Base(file)] {
						t.Errorf("%s: its client gets %d frames, without what was planted %d", filepath.Base(file), len(data), len(want))
					}
					published = append(published, data...)
					for _, frame := range data {
						var v any
						if err := json.Unmarshal([]byte(frame), &v); err != nil {
							t.Errorf("%s: %v", filepath.Base(file), err)
						}
						if found := membersOf(v, unpublic[family]); policy == "public" && len(found) > 0 {
							t.Errorf("%s: the public gets %v in %s", filepath.Base(file), found, frame)
						}
					}
				}
			}
			late := time.AfterFunc(30*time.Second, func() { _ = listening.body.Close() })
			defer late.Stop()
			for i, frame := range listening.take(t, len(published)) {
				if _, said, _ := strings.Cut(frame, "|"); strings.Contains(frame, "CANARY") || !strings.HasSuffix(said, " "+published[i]) {
					t.Fatalf("%s leaves in the place of %s", frame, published[i])
				}
			}
		})
	}
}

// unplanted is what leaves of a capture by itself.
func unplanted(t *testing.T, dialect, policy, file string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"replay", "--dialect=" + dialect, "--format=stream", "--policy=" + policy, file}, &out, io.Discard); err != nil {
		t.Fatal(file, err)
	}
	return out.Bytes()
}
