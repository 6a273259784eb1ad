package adkshapes

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

type event struct {
	InvocationID       string   `json:"invocationId"`
	LongRunningToolIDs []string `json:"longRunningToolIds"`
	Content            struct {
		Parts []struct {
			FunctionCall struct{ ID, Name string }
		}
	}
}

// converse says each step in every session; the sessions ask at the same time.
func (s *Server) converse(shape Shape, streaming bool, sessions []string) error {
	for _, session := range sessions {
		if _, err := s.post("/apps/"+shape.Name+"/users/user/sessions/"+session, struct{}{}); err != nil {
			return err
		}
	}
	errs := make([]error, len(sessions))
	var talking sync.WaitGroup
	for i, session := range sessions {
		talking.Go(func() { errs[i] = s.say(shape, streaming, session) })
	}
	talking.Wait()
	return errors.Join(errs...)
}

func (s *Server) say(shape Shape, streaming bool, session string) error {
	var said []event
	for _, step := range shape.Steps {
		request, err := step.request(said)
		if err != nil {
			return err
		}
		request["appName"], request["userId"], request["sessionId"], request["streaming"] = shape.Name, "user", session, streaming
		stream, err := s.post("/run_sse", request)
		if err != nil {
			return err
		}
		said = append(said, events(stream)...)
	}
	return nil
}

// events leaves out what is no event: an ADK 1 error frame may even be no JSON.
func events(stream string) []event {
	var all []event
	for block := range strings.SplitSeq(stream, "\n\n") {
		var e event
		if json.Unmarshal([]byte(strings.TrimPrefix(block, "data: ")), &e) == nil {
			all = append(all, e)
		}
	}
	return all
}

func (s Step) request(said []event) (map[string]any, error) {
	request := map[string]any{}
	part := map[string]any{"text": s.Text}
	if s.Answer != "" {
		call, invocation := openCall(said, s.Answer)
		if call == "" {
			return nil, fmt.Errorf("no open call of %s", s.Answer)
		}
		part = map[string]any{"functionResponse": map[string]any{"id": call, "name": s.Answer, "response": s.Response}}
		if s.Resumes {
			request["invocationId"] = invocation
		}
	}
	request["newMessage"] = map[string]any{"role": "user", "parts": []any{part}}
	return request, nil
}

func openCall(said []event, function string) (call, invocation string) {
	for _, e := range said {
		for _, part := range e.Content.Parts {
			if part.FunctionCall.Name == function && slices.Contains(e.LongRunningToolIDs, part.FunctionCall.ID) {
				call, invocation = part.FunctionCall.ID, e.InvocationID
			}
		}
	}
	return call, invocation
}
