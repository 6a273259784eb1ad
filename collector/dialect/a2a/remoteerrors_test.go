package a2a_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestRemoteErrors passes on the error of a remote agent, and then repeats its text as the task's answer, without metadata.
func TestRemoteErrors(t *testing.T) {
	const (
		part   = `"parts":[{"text":"secret"}]`
		failed = `{"status":{"state":"TASK_STATE_FAILED","message":{"messageId":"r","role":"ROLE_AGENT",` + part + `}}}`
		coded  = `{"status":{"state":"TASK_STATE_WORKING","message":{"messageId":"r","role":"ROLE_AGENT",` + part + `,"metadata":{"adk_error_code":"E"}}}}`
	)
	relays := func(response string) string { return `{"a2a:response":` + response + `}` }
	for _, response := range []string{
		failed, coded, strings.ReplaceAll(failed, "TASK_STATE_FAILED", "rejected"), strings.ReplaceAll(failed, "TASK_STATE_FAILED", "canceled"),
		`{"task":` + failed + `}`, `{"updateEvent":` + failed + `}`, strings.ReplaceAll(coded, "adk_", "kagent_"), strconv.Quote(failed),
		strings.ReplaceAll(failed, `[{"text":"secret"}]`, `[{"text":"sec"},{"text":"ret"}]`),
		`{"status":{"state":"working"},"metadata":{"adk_custom_metadata":` + strconv.Quote(relays(failed)) + `}}`, // two agents further on
	} {
		encoded := response
		if response[0] == '{' {
			encoded = strconv.Quote(response)
		}
		for _, custom := range []string{relays(response), strconv.Quote(relays(response)), `[{"key":"a2a:response","stringValue":` + encoded + `}]`} {
			meta := `"metadata":{"adk_author":"a","adk_invocation_id":"e-1","adk_custom_metadata":` + custom + `}`
			for name, sent := range map[string]string{
				"an artifact":          envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"b",`+part+`,`+meta+`}`),
				"an artifact's update": envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"b",`+part+`},`+meta),
				"a status":             envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"working","message":{"messageId":"m","role":"agent",`+part+`}},`+meta),
				"a final status":       envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"completed","message":{"messageId":"m","role":"agent",`+part+`}},`+meta),
				"a thought":            envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+thought+`]}},`+meta),
				"a question":           envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent",`+part+`,`+meta+`}}`),
				"a snapshot":           envelopes["1.0"]("", "task", `"id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"b",`+part+`}],`+meta),
			} {
				artifact := envelopes["1.0"]("", "artifactUpdate", ids+`,"lastChunk":true,"artifact":{"artifactId":"a",`+part+`},"metadata":{"adk_author":"a","adk_invocation_id":"e-1"}`)
				snapshot := envelopes["1.0"]("", "task", `"id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a",`+part+`}],"history":[{"messageId":"m","role":"ROLE_AGENT",`+part+`}]`)
				message := envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"n","role":"ROLE_AGENT",`+part+`}}`)
				answer := envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"o","parts":[{"text":"answer"}]}`)
				stream := "data: " + strings.Join([]string{sent, artifact, answer, snapshot, message}, "\n\ndata: ") + "\n\n"
				for _, thoughts := range []event.Verbosity{event.ThoughtsNone, event.ThoughtsDetailed} {
					got := filterStream(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: thoughts}, stream)
					if all := strings.Join(got, "\n"); strings.Contains(all, "secret") || !strings.Contains(got[2], "answer") {
						t.Errorf("%s: under public, of %s this leaves:\n%s", name, stream, all)
					}
				}
				if got := filterStream(t, client, "data: "+sent+"\n\n")[0]; got != sent {
					t.Errorf("%s: under client, %s becomes %s", name, sent, got)
				}
				got := filterStream(t, filter.Settings{Policy: event.PolicyClient, Exclude: []event.Kind{event.KindError}}, stream)
				if all := strings.Join(got, "\n"); strings.Contains(all, "secret") {
					t.Errorf("%s: under client without errors, of %s this leaves:\n%s", name, stream, all)
				}
			}
		}
	}
}

// TestLateErrors checks that the error of an agent may be older than what other agents sent, because JavaScript's server reports it last.
func TestLateErrors(t *testing.T) {
	status := func(state, author, code string) string {
		return "data: " + envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"`+state+`","message":{"messageId":"m","role":"agent","parts":[`+hi+`]}},"metadata":{"adk_author":"`+author+`","adk_invocation_id":"e-1"`+code+`}`) + "\n\n"
	}
	for before, late := range map[string]bool{
		"": false, status("working", "b", ""): true, status("working", "b", "") + status("working", "a", ""): false,
	} {
		stream := before + status("failed", "a", `,"adk_error_code":"SAFETY"`)
		input := collector.Input{Reader: strings.NewReader(stream), ReceivedAt: func() time.Time { return time.Time{} }}
		decoding := collector.New([]dialect.Dialect{a2a.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil).Decode(&event.Stream{}, input, "a2a")
		got := false
		for b, err := decoding.Next(); err == nil; b, err = decoding.Next() {
			got = b.OrderUnknown
		}
		if got != late {
			t.Errorf("of %s, the order is unknown: %t, want %t", stream, got, late)
		}
	}
}
