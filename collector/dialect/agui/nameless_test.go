package agui_test

import "testing"

// TestListsAfterNameless checks that no list repeats what was withheld without an ID. A thought without one repeats only in thoughts.
func TestListsAfterNameless(t *testing.T) {
	const (
		text    = `{"id":"m","role":"assistant","content":"x"}`
		thought = `{"id":"m","role":"reasoning","content":"CANARY"}`
		call    = `{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"CANARY"}}]}`
		number  = `{"id":"m","role":"assistant","toolCalls":[{"id":7,"type":"function","function":{"name":"f","arguments":"CANARY"}}]}`
		result  = `{"id":"m","role":"tool","toolCallId":7,"content":"CANARY"}`
		made    = `{"id":"m","role":"activity","activityType":"a","content":{"x":"CANARY"}}`
	)
	for sent, c := range map[string]struct{ withheld, leaves []string }{
		`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"CANARY"}`:                                    {[]string{thought}, []string{text, call, made}},
		`{"type":"THINKING_TEXT_MESSAGE_START"}`:                                                       {[]string{thought}, []string{text, call, made}},
		`{"type":"THINKING_TEXT_MESSAGE_END"}`:                                                         {nil, []string{text, thought}},
		`{"type":"REASONING_MESSAGE_CONTENT","delta":"CANARY"}`:                                        {[]string{thought}, []string{text, call, made}},
		`{"type":"REASONING_MESSAGE_CHUNK","delta":"CANARY"}`:                                          {[]string{thought}, []string{text, call, made}},
		`{"type":"ACTIVITY_SNAPSHOT","activityType":"a","content":{"x":"CANARY"}}`:                     {[]string{made}, nil},
		`{"type":"TOOL_CALL_START","toolCallId":7,"toolCallName":"f"}`:                                 {[]string{number, result}, nil},
		`{"type":"TOOL_CALL_RESULT","messageId":"n","toolCallId":7,"content":"CANARY"}`:                {[]string{result}, nil},
		`{"type":"TOOL_CALL_START","toolCallId":true,"toolCallName":"f"}`:                              {[]string{call, number, result}, nil},
		`{"type":"TOOL_CALL_RESULT","messageId":"n","toolCallId":[],"content":"CANARY"}`:               {[]string{result}, nil},
		`{"type":"TOOL_CALL_CHUNK","delta":"CANARY"}`:                                                  {[]string{call}, nil},
		`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"x"}`: {nil, []string{text}},
	} {
		for message, leaves := range bySet(c.withheld, c.leaves) {
			list := `{"type":"MESSAGES_SNAPSHOT","messages":[` + message + `]}`
			if got := last(filterFrames(t, allSettings[0], run, evasions["kind"](sent), list)); (got == list) != leaves {
				t.Errorf("after %s: %s leaves as %s", sent, list, got)
			}
		}
	}
}

func bySet(withheld, leaves []string) map[string]bool {
	all := map[string]bool{}
	for _, one := range withheld {
		all[one] = false
	}
	for _, one := range leaves {
		all[one] = true
	}
	return all
}
