package demo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, speed float64) *stage {
	t.Helper()
	stage, err := openStage(speed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stage.close)
	return stage
}

// TestDrive checks that drive reports a proxy that changes one byte of an answer or answers itself.
func TestDrive(t *testing.T) {
	for name, c := range map[string]struct {
		between func(agent string) http.HandlerFunc
		want    string // "" for no error
	}{
		"nothing": {func(agent string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				forward(t, w, r, agent, func(p []byte) []byte { return p })
			}
		}, ""},
		"a byte": {func(agent string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				forward(t, w, r, agent, func(p []byte) []byte { return []byte(strings.Replace(string(p), "HIGH", "high", 1)) })
			}
		}, "fire-briefing: the client got "},
		"a refusal": {func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) }
		}, "fire-briefing: POST /run_sse: 503 Service Unavailable: busy"},
	} {
		t.Run(name, func(t *testing.T) {
			stage := open(t, 1e6)
			between := httptest.NewServer(c.between(stage.url("fire-briefing")))
			defer between.Close()
			err := stage.drive(t.Context(), 1, func(string) string { return between.URL })
			if fmt.Sprint(err) != "<nil>" && (c.want == "" || !strings.HasPrefix(err.Error(), c.want)) || err == nil && c.want != "" {
				t.Errorf("drive() = %v, want %q", err, c.want)
			}
		})
	}
}

func forward(t *testing.T, w http.ResponseWriter, r *http.Request, agent string, change func([]byte) []byte) {
	t.Helper()
	to, err := http.NewRequest(r.Method, agent+r.URL.Path, r.Body)
	if err != nil {
		t.Error(err)
		return
	}
	to.Header = r.Header
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(to)
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	_, _ = w.Write(change(answer))
}

// TestCloseDuringAnswers checks that close ends agents that send extremely slowly: one with a reader, one without, and one without a request.
func TestCloseDuringAnswers(t *testing.T) {
	stage := open(t, 1e-6)
	ctx, stop := context.WithCancel(t.Context())
	driven := make(chan error, 1)
	go func() { driven <- stage.drive(ctx, 0, stage.url) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var waiting []*http.Response
	for _, url := range []string{stage.url("fire-weather") + "/events/nobody-asks", stage.url("evacuation-notice") + "/api/projects/p/stream"} {
		resp, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, resp)
	}
	first, err := bufio.NewReader(waiting[1].Body).ReadString('\n')
	if err != nil || first != "event: session\n" {
		t.Errorf("the first bytes are %q, %v", first, err)
	}
	stop()
	if err := <-driven; err != nil {
		t.Error(err)
	}
	stage.close()
	for _, resp := range waiting {
		if _, err := io.ReadAll(resp.Body); err == nil {
			t.Error("the answer is complete")
		}
		resp.Body.Close()
	}
}
