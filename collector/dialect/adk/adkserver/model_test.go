package adkserver

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

const (
	askedByUser = `{"role":"user","parts":[{"text":"case:parallel_tools please"}]}`
	calledTools = `{"role":"model","parts":[{"functionCall":{"name":"get_weather"}},{"functionCall":{"name":"get_time"}}]}`
	gotResults  = `{"role":"user","parts":[{"functionResponse":{"name":"get_weather","response":{}}}]}`
	askedAgain  = `{"role":"user","parts":[{"text":"and case:plain"}]}`
)

// TestFakeModel checks that the model answers by the script of the case and the turn.
func TestFakeModel(t *testing.T) {
	model := NewFakeModel(t)
	tests := []struct {
		name, method, agent, contents string
		status                        int
		answer                        string // part of the body
	}{
		{"first turn", "generateContent", "coordinator", askedByUser, 200, `"name":"get_weather"`},
		{"second turn", "generateContent", "coordinator", askedByUser + "," + calledTools + "," + gotResults, 200,
			`"text":"It is half past ten in Oslo, and sunny."`},
		{"next run", "generateContent", "coordinator", askedByUser + "," + calledTools + "," + gotResults + "," + askedAgain, 200,
			`"text":"This is a plain answer."`},
		{"streamed", "streamGenerateContent", "coordinator", askedByUser + "," + calledTools, 200,
			`"text":"It is half past ten in Oslo, "`},
		{"another agent's script", "generateContent", "billing_agent", askedByUser, 400, "no turn 0 for billing_agent"},
		{"script at its end", "generateContent", "coordinator", askedByUser + "," + calledTools + "," + calledTools, 400, "no turn 2"},
		{"no case", "generateContent", "coordinator", gotResults, 400, "names no case"},
		{"failing", "generateContent", "coordinator", strings.Replace(askedByUser, "parallel_tools", "model_error", 1), 503, "UNAVAILABLE"},
		{"other method", "countTokens", "coordinator", askedByUser, 404, "no such method"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			response := ask(t, context.Background(), model, test.method, test.agent, test.contents)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != test.status || !strings.Contains(string(body), test.answer) {
				t.Errorf("the response is %d %s (%v), want %d with %s", response.StatusCode, body, err, test.status, test.answer)
			}
		})
	}
}

// TestGateChunks checks that each chunk after the first waits for the gate.
func TestGateChunks(t *testing.T) {
	model := NewFakeModel(t)
	gate := make(chan struct{})
	model.GateChunks("slow", gate)
	ctx, leave := context.WithCancel(context.Background())
	response := ask(t, ctx, model, "streamGenerateContent", "coordinator", strings.Replace(askedByUser, "parallel_tools", "slow", 1))
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	next := func(want string) {
		t.Helper()
		for lines.Scan() && lines.Text() == "" {
		}
		if !strings.Contains(lines.Text(), want) {
			t.Fatalf("the next line is %q, want one with %q", lines.Text(), want)
		}
	}
	next("chunk 1. ")
	gate <- struct{}{}
	next("chunk 2. ")
	gate <- struct{}{}
	next("chunk 3. ")
	leave() // otherwise NewFakeModel's cleanup waits forever for the handler
}

func ask(t *testing.T, ctx context.Context, model *FakeModel, method, agent, contents string) *http.Response {
	t.Helper()
	body := `{"contents":[` + contents + `],"systemInstruction":{"parts":[{"text":"be kind\n\nagent:` + agent + `"}]}}`
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, model.URL+"/v1beta/models/gemini-2.5-flash:"+method, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}
