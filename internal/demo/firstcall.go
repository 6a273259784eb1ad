package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// firstCall is a request that makes an agent run.
type firstCall struct {
	protocol string
	path     string
	headers  []string // in addition to that of JSON
	body     string
}

// command returns a shell command that sends the call to a server.
func (c firstCall) command(server string) string {
	command := "curl -N " + quoted(server+c.path)
	for _, header := range append([]string{"Content-Type: application/json"}, c.headers...) {
		command += " -H " + quoted(header)
	}
	return command + " -d " + quoted(c.body)
}

// quoted returns word in quotes for a POSIX shell. It drops control characters, which an agent's names may contain.
func quoted(word string) string {
	printable := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, word)
	return "'" + strings.ReplaceAll(printable, "'", `'\''`) + "'"
}

// probeTime is how long an agent may take to answer one of the prober's requests.
const probeTime = 10 * time.Second

// maxProbe is the maximum number of bytes of an answer that are read.
const maxProbe = 1 << 20

// errSilent means that nothing answers at an agent's URL.
var errSilent = errors.New("nothing answers")

// findFirstCall finds out which protocol an agent speaks. It returns nil if the agent answers but speaks none of those it knows.
// An error wraps errSilent.
func findFirstCall(ctx context.Context, agent string) (*firstCall, error) {
	p := prober{client: &http.Client{Timeout: probeTime, Transport: &http.Transport{DisableKeepAlives: true}}, agent: strings.TrimSuffix(agent, "/")}
	answered := false
	for _, ask := range []func(prober, context.Context) (*firstCall, error){prober.adk, prober.a2a, prober.langGraph, prober.openAI} {
		found, err := ask(p, ctx)
		isSilent := errors.Is(err, errSilent)
		if err == nil || isSilent && !answered {
			return found, err
		}
		answered = true
	}
	return nil, nil
}

// prober asks an agent's own server, not the proxy, so that its requests appear in no run.
type prober struct {
	client *http.Client
	agent  string
}

// ask sends a request and decodes the JSON of the answer. A body makes it a POST request.
func (p prober) ask(ctx context.Context, path string, body any, into any) error {
	method, sent := http.MethodGet, io.Reader(http.NoBody)
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		method, sent = http.MethodPost, bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, p.agent+path, sent)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(request)
	if err != nil {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxProbe)).Decode(into)
}

// adk recognizes ADK's API server, and makes a session for the first of its apps.
func (p prober) adk(ctx context.Context) (*firstCall, error) {
	var apps []string
	if err := p.ask(ctx, "/list-apps", nil, &apps); err != nil {
		return nil, err
	}
	if len(apps) == 0 {
		return nil, errors.New("it serves no app")
	}
	var session struct {
		ID string `json:"id"`
	}
	if err := p.ask(ctx, "/apps/"+url.PathEscape(apps[0])+"/users/me/sessions", struct{}{}, &session); err != nil {
		return nil, err
	}
	return newCall("ADK", "/run_sse", map[string]any{
		"appName": apps[0], "userId": "me", "sessionId": session.ID, "streaming": true,
		"newMessage": map[string]any{"role": "user", "parts": []any{map[string]any{"text": "Hello"}}},
	})
}

// a2a recognizes an agent by its card. Version 1.0 of the protocol uses other names than earlier versions.
func (p prober) a2a(ctx context.Context) (*firstCall, error) {
	var card struct {
		URL        string
		Interfaces []struct{ URL, ProtocolBinding, ProtocolVersion string } `json:"supportedInterfaces"`
	}
	if err := p.ask(ctx, "/.well-known/agent-card.json", nil, &card); err != nil {
		if err := p.ask(ctx, "/.well-known/agent.json", nil, &card); err != nil {
			return nil, err
		}
	}
	for _, at := range card.Interfaces {
		if at.ProtocolBinding == "JSONRPC" && strings.HasPrefix(at.ProtocolVersion, "1.") {
			call, err := newCall("A2A", p.pathOf(at.URL), rpc("SendStreamingMessage", map[string]any{"messageId": "1", "role": "ROLE_USER", "parts": []any{map[string]any{"text": "Hello"}}}))
			if err == nil {
				call.headers = []string{"A2A-Version: 1.0"}
			}
			return call, err
		}
	}
	if card.URL == "" {
		return nil, errors.New("its card names no address for JSON-RPC")
	}
	return newCall("A2A", p.pathOf(card.URL), rpc("message/stream", map[string]any{
		"kind": "message", "messageId": "1", "role": "user", "parts": []any{map[string]any{"kind": "text", "text": "Hello"}},
	}))
}

func rpc(method string, message any) any {
	return map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": map[string]any{"message": message}}
}

// pathOf returns the path of a URL in a card below the agent's URL. The card's host may be one that only the agent's cluster knows.
func (p prober) pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(u.EscapedPath(), "/") { // without a slash, it would continue the host
		return "/"
	}
	path := u.EscapedPath()
	if agent, err := url.Parse(p.agent); err == nil && agent.EscapedPath() != "" {
		if below, isBelow := strings.CutPrefix(path, agent.EscapedPath()); isBelow && (below == "" || below[0] == '/') {
			path = cmp.Or(below, "/")
		}
	}
	return strings.NewReplacer("[", "%5B", "]", "%5D").Replace(path) // curl would read a range
}

// langGraph recognizes a LangGraph server, and takes the first of its assistants.
func (p prober) langGraph(ctx context.Context) (*firstCall, error) {
	var assistants []struct {
		ID    string `json:"assistant_id"`
		Graph string `json:"graph_id"`
	}
	if err := p.ask(ctx, "/assistants/search", map[string]any{"limit": 1}, &assistants); err != nil {
		return nil, err
	}
	if len(assistants) == 0 || assistants[0].ID == "" {
		return nil, errors.New("it serves no assistant")
	}
	return newCall("LangGraph", "/runs/stream", map[string]any{
		"assistant_id": assistants[0].ID, "stream_mode": []string{"updates", "messages-tuple"},
		"input": map[string]any{"messages": []any{map[string]any{"role": "user", "content": "Hello"}}},
	})
}

// openAI recognizes a server with OpenAI's API, and takes the first of its models.
func (p prober) openAI(ctx context.Context) (*firstCall, error) {
	var models struct{ Data []struct{ ID string } }
	if err := p.ask(ctx, "/v1/models", nil, &models); err != nil {
		return nil, err
	}
	if len(models.Data) == 0 {
		return nil, errors.New("it serves no model")
	}
	return newCall("OpenAI", "/v1/chat/completions", map[string]any{
		"model": models.Data[0].ID, "stream": true, "messages": []any{map[string]any{"role": "user", "content": "Hello"}},
	})
}

func newCall(protocol, path string, body any) (*firstCall, error) {
	encoded, err := json.Marshal(body)
	return &firstCall{protocol: protocol, path: path, body: string(encoded)}, err
}

// introduce prints the address to use instead of the agent's, and a command that makes the agent run. It passes that on to example.
func (d *Command) introduce(ctx context.Context, proxy string, example func(command string)) {
	fmt.Fprintf(d.Out, "agent    %s\nproxy    %s  use this URL in your client instead of the agent's\n", d.Agent, proxy)
	switch call, err := findFirstCall(ctx, d.Agent); {
	case ctx.Err() != nil:
	case errors.Is(err, errSilent):
		fmt.Fprintf(d.Out, "         nothing answers at %s (%s): start the agent\n", d.Agent, reasonOf(err))
	case call == nil:
		fmt.Fprintln(d.Out, "         the agent answers, but is no server of ADK, A2A, LangGraph or OpenAI: call it as its own client does")
	default:
		command := call.command(proxy)
		example(command)
		fmt.Fprintf(d.Out, "         it speaks %s; this makes it run:\n         %s\n", call.protocol, command)
	}
}

// reasonOf returns the innermost reason of a failed request, without its URL.
func reasonOf(err error) string {
	var failed *url.Error
	if !errors.As(err, &failed) {
		return err.Error()
	}
	if failed.Timeout() {
		return "timeout"
	}
	text := failed.Err.Error()
	return strings.TrimSpace(text[strings.LastIndex(text, ":")+1:])
}
