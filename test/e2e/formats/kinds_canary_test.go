package formats_test

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

	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// interruptedAgent is an agent that serves every capture of Looopy's by name once the sidecar has a subscriber. The first request gets half
// of the stream, cut within a frame, the next one the rest, later ones nothing.
type interruptedAgent struct {
	*httptest.Server
	heard  chan struct{}
	blocks map[string][]string // frames and comments
	wanted []string            // the frames for its client, as event name and data
	frames int

	mu    sync.Mutex
	asked map[string]int
	fault string
}

func newInterruptedAgent(t *testing.T) *interruptedAgent {
	t.Helper()
	d := &interruptedAgent{heard: make(chan struct{}), blocks: map[string][]string{}, asked: map[string]int{}}
	for _, file := range recorded.Files(t, recorded.Captures["looopy"]) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d.blocks[filepath.Base(file)] = strings.SplitAfter(string(content), "\n\n")
		d.wanted = append(d.wanted, harness.LooopyClientFrames(t, content)...)
		d.frames += len(harness.FrameData(t, content))
	}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *interruptedAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// TestNoCanaryOfLooopyLeaves tails every capture at once, each interrupted in the middle of a frame. A reader gets all frames for
// clients and nothing internal, even where Looopy's own filter and replay let it pass. So does a reader that resumes with any id.
func TestNoCanaryOfLooopyLeaves(t *testing.T) {
	for _, policy := range []string{"client", "public"} {
		t.Run(policy, func(t *testing.T) {
			agent := newInterruptedAgent(t)
			configured := fmt.Sprintf("stream: {listen: \"127.0.0.1:0\", policy: %s, thoughts: detailed}\nsources:\n", policy)
			for name := range agent.blocks {
				source := strings.TrimSuffix(name, ".sse")
				configured += fmt.Sprintf("  - {name: %q, dialect: looopy, tail: {url: \"%s/events/%s?filterInternal=false\"}}\n", source, agent.URL, name)
			}
			service := harness.Launch(t, configured, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			listening := service.Subscribe(t, "")
			close(agent.heard)
			harness.Await(t, func(context.Context) error {
				left, kept := service.Replay().Frames, service.Count(t, "delegraph_stream_frames_dropped_total")
				if left+int(kept) != agent.frames {
					return fmt.Errorf("of %d frames %d were published and %v withheld", agent.frames, left, kept)
				}
				return nil
			})
			agent.mu.Lock()
			fault := agent.fault
			agent.mu.Unlock()
			if fault != "" {
				t.Error(fault)
			}
			published := service.Replay().Frames
			live := listening.Take(t, published)
			if policy == "client" {
				var got []string
				for _, frame := range live {
					_, said, _ := strings.Cut(frame, "|")
					got = append(got, said)
				}
				slices.Sort(got)
				slices.Sort(agent.wanted)
				if !slices.Equal(got, agent.wanted) {
					t.Errorf("%d frames were published, %d are for clients", len(got), len(agent.wanted))
				}
			}
			for k := 0; k < published-1; k += 1 + published/20 {
				id, _, _ := strings.Cut(live[k], "|")
				if again := service.Subscribe(t, id).Take(t, published-k-1); !slices.Equal(again, live[k+1:]) {
					t.Errorf("a reader that resumes after frame %d gets something else", k+1)
				}
			}
			gap := service.Subscribe(t, "of-another-epoch").Take(t, published+1)
			if !strings.Contains(gap[0], "delegraph.gap") || !slices.Equal(gap[1:], live) {
				t.Errorf("a reader with an unknown id gets %s and %d frames", gap[0], len(gap)-1)
			}
			if all := strings.Join(live, "\n") + strings.Join(gap, "\n"); published < 100 || bytes.Contains([]byte(all), harness.LooopyCanary) || strings.Contains(all, "internal:") {
				t.Errorf("something internal is in the %d published frames", published)
			}
		})
	}
}

// planted lists frames that no reader may get, by dialect: some for after each frame of a capture, whose meaning they do not
// change, and some for the end.
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
	"aisdk": {
		[]string{
			`data: {"type":"internal:text-start","id":"CANARY"}`,
			`data: {"type":"surprise","x":"CANARY"}`,
			`data: {"type":"data-internal:x","data":"CANARY"}`,
			`data: {"type":"data-x","data":{"type":"internal:x","x":"CANARY"}}`,
			"event: internal:x\ndata: {\"type\":\"file\",\"x\":\"CANARY\"}",
		},
		[]string{
			`data: {"type":"text-start","id":"CANARY","kind":"internal:x"}`,
			`data: {"type":"text-delta","id":"CANARY","delta":"CANARY"}`,
			`data: {"type":"internal:surprise","x":"CANARY"}`,
			`data: {"type":"reasoning-delta","id":"stray","delta":"CANARY"}`,
			`data: {"type":"tool-output-available","toolCallId":"stray","output":"CANARY"}`,
		},
	},
	"openai": {
		[]string{
			`data: {"type":"internal:planning","x":"CANARY"}`,
			`data: {"type":"response.surprise","x":"CANARY"}`,
			`data: {"type":"raw_response_event","data":{"type":"response.surprise","x":"CANARY"}}`,
			"event: internal:x\ndata: {\"type\":\"response.output_text.annotation.added\",\"x\":\"CANARY\"}",
		},
		[]string{
			`data: {"type":"response.output_item.added","output_index":99,"item":{"id":"CANARY","type":"message","role":"developer"}}`,
			`data: {"type":"response.output_text.delta","output_index":99,"item_id":"x","delta":"CANARY"}`,
			`data: {"type":"response.output_text.delta","output_index":98,"item_id":"CANARY","delta":"CANARY"}`,
			`data: {"id":"CANARY","object":"chat.completion.chunk","kind":"internal:x","choices":[{"index":77,"delta":{"role":"assistant"}}]}`,
			`data: {"id":"CANARY","object":"chat.completion.chunk","choices":[{"index":77,"delta":{"content":"CANARY"}}]}`,
			`data: {"type":"run_item_stream_event","name":"internal:x","item":"CANARY"}`,
		},
	},
}

// unpublic lists the members, by dialect, that must not be in the public stream.
var unpublic = map[string][]string{
	"a2a": {
		"history", "args", "response", "bytes", "raw", "uri", "url", "fileWithBytes", "fileWithUri", "description", "adk_actions",
		"adk_usage_metadata", "adk_session_id", "adk_user_id", "adk_app_name", "adk_error_code",
	},
	"agui":  {"input", "rawEvent", "metadata", "event", "snapshot", "messages", "result", "usage", "encryptedValue", "code"},
	"aisdk": {"inputTextDelta", "messageMetadata", "providerMetadata", "toolMetadata", "data", "signature", "rawInput", "usage", "reason"},
	"openai": {
		"usage", "instructions", "tools", "annotation", "encrypted_content", "logprobs", "query", "action", "metadata", "system_fingerprint",
		"handoff_description", "provider_data", "prompt_filter_results",
	},
}

// missing returns how many of the wanted frames did not come, or -1 if other frames came.
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

// TestNothingPlantedLeaves plants frames that no reader may get between those of every capture. The relay's client and readers of
// the external stream get the same as without them.
func TestNothingPlantedLeaves(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		family, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/agent/"), "/")
		content, err := os.ReadFile(filepath.Join(recorded.Captures[family], name))
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
			families := []string{"a2a", "agui", "aisdk", "openai"}
			for _, family := range families {
				configured += fmt.Sprintf("  - {name: %[1]s, dialect: %[1]s, policy: %[2]s, proxy: {listen: \"127.0.0.1:0\", upstream: %[3]q, paths: [/agent/*/*]}}\n", family, policy, agent.URL)
			}
			service := harness.Launch(t, configured, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			listening := service.Subscribe(t, "")
			var published []string
			for i, family := range families {
				for _, file := range recorded.Files(t, recorded.Captures[family]) {
					want := harness.FrameData(t, unplanted(t, family, policy, file))
					resp, err := http.Post("http://"+service.Proxies()[i].Addr+"/agent/"+family+"/"+filepath.Base(file), "application/json", strings.NewReader(`{}`))
					if err != nil {
						t.Fatal(err)
					}
					whole, err := io.ReadAll(resp.Body)
					_ = resp.Body.Close()
					if err != nil {
						t.Fatal(err)
					}
					got := harness.Frames(t, whole)
					service.Wait()
					var data []string
					for _, f := range got {
						data = append(data, string(f.Data))
						if strings.Contains(string(f.Event)+string(f.ID)+string(f.Data), "CANARY") {
							t.Errorf("%s: %s reaches its client", filepath.Base(file), f.Data)
						}
					}
					if lost := missing(want, data); lost != 0 {
						t.Errorf("%s: its client gets %d frames, without what was planted %d", filepath.Base(file), len(data), len(want))
					}
					published = append(published, data...)
					for _, frame := range data {
						var v any
						frame = strings.ReplaceAll(frame, `"response":{"status":"pending"}`, `"pending":true`) // only this leaves of a response
						if err := json.Unmarshal([]byte(frame), &v); err != nil && frame != "[DONE]" {
							t.Errorf("%s: %v", filepath.Base(file), err)
						}
						if found := harness.FindMembers(v, unpublic[family]); policy == "public" && len(found) > 0 {
							t.Errorf("%s: the public stream has %v in %s", filepath.Base(file), found, frame)
						}
					}
				}
			}
			late := time.AfterFunc(30*time.Second, func() { _ = listening.Body.Close() })
			defer late.Stop()
			for i, frame := range listening.Take(t, len(published)) {
				if _, said, _ := strings.Cut(frame, "|"); strings.Contains(frame, "CANARY") || !strings.HasSuffix(said, " "+published[i]) {
					t.Fatalf("%s is published instead of %s", frame, published[i])
				}
			}
		})
	}
}

// unplanted returns what is published of a capture on its own.
func unplanted(t *testing.T, dialect, policy, file string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := command.Run(t.Context(), []string{"replay", "--dialect=" + dialect, "--format=stream", "--policy=" + policy, file}, &out, io.Discard); err != nil {
		t.Fatal(file, err)
	}
	return out.Bytes()
}
