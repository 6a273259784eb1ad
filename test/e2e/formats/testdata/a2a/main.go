// Command a2a reads streams with the official Go SDK of the Agent2Agent protocol, and serves an agent made with it.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		serve()
		return
	}
	requests, said := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var r request
		if requests.Decode(&r) != nil {
			return
		}
		if err := said.Encode(read(r)); err != nil {
			return
		}
	}
}

// request asks for a URL to be read in a version of the protocol, over JSON-RPC or HTTP+JSON. If Text is set, a message with it
// is sent; otherwise the URL is a stream that is read with GET.
type request struct {
	URL, Version, Text string
	REST               bool
}

// transport returns the transport of the request.
func (r request) transport(client *http.Client) (a2aclient.Transport, error) {
	switch old := r.Version == "0.3"; {
	case old && r.REST:
		return a2av0.NewRESTTransport(a2av0.RESTTransportConfig{URL: r.URL, Client: client})
	case old:
		return a2av0.NewJSONRPCTransport(a2av0.JSONRPCTransportConfig{URL: r.URL, Client: client}), nil
	case r.REST:
		at, err := url.Parse(r.URL)
		return a2aclient.NewRESTTransport(at, client), err
	}
	return a2aclient.NewJSONRPCTransport(r.URL, client), nil
}

// account is what the client made of a stream.
type account struct {
	Events int
	Tasks  []string // in order of their first event
	States []string // of the updates, in order
	Text   string   // of the artifacts
	Calls  []string // of tools
	Held   map[a2a.ArtifactID]artifact
	Loose  string // the artifact of an update that continues one without a beginning
	Early  string // the task of an update that came before the task itself
	Fault  string
}

// artifact is the client's state of an artifact.
type artifact struct {
	Name   string
	Bytes  []byte   // of its files, one after the other
	Files  []string // their names and types
	URLs   []string
	Data   []any
	Chunks int
	Closed bool
}

func read(r request) (got account) {
	client := &http.Client{}
	if r.Text == "" {
		client.Transport = getting{}
	}
	transport, err := r.transport(client)
	if err != nil {
		got.Fault = err.Error()
		return got
	}
	text := r.Text
	if text == "" {
		text = "read"
	}
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	for e, err := range transport.SendStreamingMessage(context.Background(), nil, &a2a.SendMessageRequest{Message: message}) {
		if err != nil {
			got.Fault = err.Error()
			return got
		}
		got.take(e)
	}
	return got
}

func (a *account) take(e a2a.Event) {
	a.Events++
	switch e := e.(type) {
	case *a2a.Task:
		a.Tasks = append(a.Tasks, string(e.ID))
		a.States = append(a.States, string(e.Status.State))
		a.message(e.Status.Message)
	case *a2a.TaskStatusUpdateEvent:
		a.States = append(a.States, string(e.Status.State))
		a.message(e.Status.Message)
		a.known(e.TaskID)
	case *a2a.TaskArtifactUpdateEvent:
		for _, part := range e.Artifact.Parts {
			a.Text += part.Text()
		}
		a.known(e.TaskID)
		a.write(e)
	}
}

// write adds an update to an artifact.
func (a *account) write(e *a2a.TaskArtifactUpdateEvent) {
	held, known := a.Held[e.Artifact.ID]
	switch {
	case !e.Append:
		held = artifact{}
	case !known:
		a.Loose = string(e.Artifact.ID)
	}
	held.Name, held.Closed = cmp.Or(e.Artifact.Name, held.Name), e.LastChunk
	held.Chunks++
	for _, part := range e.Artifact.Parts {
		switch content := part.Content.(type) {
		case a2a.Raw:
			if held.Bytes = append(held.Bytes, content...); len(content) > 0 {
				held.Files = append(held.Files, part.Filename+" "+part.MediaType)
			}
		case a2a.URL:
			held.URLs = append(held.URLs, part.Filename+" "+string(content))
		case a2a.Data:
			held.Data = append(held.Data, content.Value)
		}
	}
	if a.Held == nil {
		a.Held = make(map[a2a.ArtifactID]artifact)
	}
	a.Held[e.Artifact.ID] = held
}

// known records an update of a task that came before the task itself.
func (a *account) known(id a2a.TaskID) {
	for _, task := range a.Tasks {
		if task == string(id) {
			return
		}
	}
	a.Early = string(id)
}

func (a *account) message(m *a2a.Message) {
	if m == nil {
		return
	}
	for _, part := range m.Parts {
		if kind, _ := part.Metadata["adk_type"].(string); kind == "function_call" {
			call, _ := part.Data().(map[string]any)
			a.Calls = append(a.Calls, fmt.Sprint(call["name"]))
		}
	}
}

// getting sends the client's requests as a subscriber, with GET instead of POST.
type getting struct{}

func (getting) RoundTrip(r *http.Request) (*http.Response, error) {
	got := r.Clone(r.Context())
	got.Method, got.Body, got.ContentLength = http.MethodGet, nil, 0
	return http.DefaultTransport.RoundTrip(got)
}
