package adk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestErrorsOfWithheldCalls ends a run with an exception while an internal call has no response. The exception may quote the
// arguments of the call.
func TestErrorsOfWithheldCalls(t *testing.T) {
	hidden, visible := by("a", internal+content(called("c", "secret"))), by("a", content(called("d", "1")))
	code := content(`{"executableCode":{"id":"k","code":"x"}}`)
	raised := by("a", `"errorCode":"ValueError","errorMessage":"secret"`)
	ended := `{"error":"ValueError: secret","error_details":{"error_type":"ValueError","error_message":"secret"}}`
	refused := by("a", `"finishReason":"SAFETY","errorMessage":"secret"`)
	other := strings.ReplaceAll(ended, "secret", "no such user")
	failed := by("a", content(`{"functionResponse":{"id":"d","name":"pay","response":{"error":"no secret"}}}`))
	many := []string{}
	for i := range 1024 {
		many = append(many, by("a", internal+content(called(fmt.Sprintf("i%d", i), "secret"))))
	}
	many = append(many, hidden)
	for i := range 1024 {
		many = append(many, by("a", content(responded(fmt.Sprintf("i%d", i)))))
	}
	manyErrors := []string{}
	for i := range 1025 {
		manyErrors = append(manyErrors, by("a", fmt.Sprintf(`%s"errorCode":"X","errorMessage":"other%d"`, internal, i)))
	}
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame, unchanged
	}{
		"an event":                  {[]string{hidden, raised}, false},
		"of another agent":          {[]string{hidden, strings.Replace(raised, `"a"`, `"b"`, 1)}, false},
		"without a code":            {[]string{hidden, by("a", `"errorMessage":"secret"`)}, false},
		"in a piece":                {[]string{hidden, by("a", `"partial":true,"errorCode":"X","errorMessage":"secret"`)}, false},
		"with a finish reason":      {[]string{hidden, refused}, false},
		"the end":                   {[]string{hidden, ended}, false},
		"the end after an event":    {[]string{hidden, raised, ended}, false},
		"an end without details":    {[]string{hidden, `{"error":"secret"}`}, false},
		"beside a visible call":     {[]string{hidden, visible, by("a", content(responded("d"))), ended}, false},
		"of code":                   {[]string{by("a", internal+code), ended}, false},
		"of a call without an ID":   {[]string{by("a", internal+content(`{"functionCall":{"name":"pay"}}`)), ended}, false},
		"after a piece of a result": {[]string{hidden, by("a", `"partial":true,`+content(responded("c"))), ended}, false},
		"after an unread call":      {[]string{unread, ended}, false},
		"beyond the limit":          {append(many, ended), false},
		"a repeat of an event":      {[]string{by("a", internal+`"errorCode":"X","errorMessage":"secret"`), ended}, false},
		"a repeat by a parent":      {[]string{by("a", internal+`"errorCode":"X","errorMessage":"secret"`), raised}, false},
		"an end with the class":     {[]string{by("a", internal+`"errorCode":"X","errorMessage":"secret "`), `{"error":"ValueError: secret"}`}, false},
		"of a node around it":       {[]string{by("a", internal+`"errorCode":"X","errorMessage":"secret"`), by("b", `"errorCode":"X","errorMessage":"node a failed: secret (1)"`)}, false},
		"a group of errors":         {[]string{by("a", internal+`"errorCode":"X","errorMessage":"secret\nat 1"`), `{"error":"ExceptionGroup: (1 sub-exception): ['secret\\nat 1']"}`}, false},
		"an object":                 {[]string{by("a", internal+`"errorCode":"X","errorMessage":"secret"`), `{"error":{"code":1,"message":"no secret"}}`}, false},
		"a short text with a class": {[]string{by("a", internal+`"errorCode":"X","errorMessage":"ab"`), `{"error":"ValueError: ab"}`}, false},
		"with a short text in it":   {[]string{by("a", internal+`"errorCode":"X","errorMessage":"sec"`), ended}, true},
		"beyond the limit of texts": {append(manyErrors, ended), false},
		"another error":             {[]string{by("a", internal+`"errorCode":"X","errorMessage":"other"`), ended}, true},
		"after the response":        {[]string{hidden, by("a", content(responded("c"))), other}, true},
		"after a piece of the call": {[]string{by("a", `"partial":true,`+internal+content(called("p", "secret"))), hidden, by("a", content(responded("c"))), other}, true},
		"of an unfinished call":     {[]string{by("a", `"partial":true,`+internal+content(called("p", "secret"))), other}, false},
		"of the arguments":          {[]string{hidden, by("a", content(`{"functionResponse":{"id":"c","name":"pay","response":{"r":"ok"}}}`)), ended}, false},
		"of the result":             {[]string{by("a", internal+content(called("c", "1"))), by("a", content(responded("c"))), ended}, false},
		"of code's result":          {[]string{by("a", internal+content(`{"codeExecutionResult":{"outcome":"OUTCOME_FAILED","output":"secret"}}`)), ended}, false},
		"the text of code":          {[]string{by("a", internal+content(`{"executableCode":{"code":"secret"}}`, `{"codeExecutionResult":{}}`)), ended}, false},
		"a text as the code":        {[]string{by("a", internal+`"errorCode":"no secret"`), by("b", `"errorCode":"no secret"`)}, false},
		"a code":                    {[]string{by("a", internal+`"errorCode":"SAFETY"`), by("b", `"errorCode":"SAFETY","errorMessage":"SAFETY"`)}, true},
		"of an internal error":      {[]string{`{"error":"secret",` + strings.TrimSuffix(internal, ",") + `}`, ended}, false},
		"in its details alone":      {[]string{by("a", internal+`"errorMessage":"secret"`), strings.Replace(ended, `"ValueError: secret"`, `"x"`, 1)}, false},
		"a result of another call":  {[]string{visible, hidden, failed}, false},
		"a result of other code":    {[]string{hidden, by("a", content(`{"text":"hi"}`, `{"codeExecutionResult":{"outcome":"OUTCOME_FAILED","output":"no secret"}}`))}, false},
		"another failed result":     {[]string{visible, by("a", internal+content(called("c", "other"))), failed}, true},
		"a result that retries":     {[]string{visible, hidden, strings.Replace(failed, `"error":`, `"response_type":"ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN","error_details":`, 1)}, false},
		"a model that retries":      {[]string{hidden, by("a", content(responded("c"))), by("a", content(`{"functionCall":{"id":"e","name":"adk_handle_model_error","args":{"error_details":"no secret"}}}`))}, false},
		"a result that is no error": {[]string{visible, hidden, strings.Replace(failed, `"error"`, `"r"`, 1)}, true},
		"of an answer":              {[]string{by("a", internal+says("secret answer")), `{"error":"no secret answer"}`}, false},
		"a part of an answer":       {[]string{by("a", internal+says(`{"x":"secret answer"}`)), `{"error":"no secret answer"}`}, false},
		"of a short answer":         {[]string{by("a", internal+says("secret 7")), `{"error":"no secret 7"}`}, false},
		"of an output":              {[]string{by("a", internal+`"output":"secret answer"`), `{"error":"no secret answer"}`}, false},
		"a word of an answer":       {[]string{by("a", internal+says("secret")), ended}, true},
		"of a public answer":        {[]string{by("a", says("secret answer")), `{"error":"no secret answer"}`}, true},
		"a result with an answer":   {[]string{visible, by("a", internal+says("secret answer")), strings.Replace(failed, "secret", "secret answer", 1)}, false},
		"of pieces":                 {[]string{by("a", internal+`"partial":true,`+says("secret")), raised}, false},
		"the end after pieces":      {[]string{by("a", internal+`"partial":true,`+says("secret")), raised, ended}, false},
		"the end alone":             {[]string{by("a", internal+`"partial":true,`+says("secret")), ended}, false},
		"after the whole":           {[]string{by("a", internal+`"partial":true,`+says("secret")), by("a", internal+says("secret")), other}, true},
		"after public pieces":       {[]string{by("a", `"partial":true,`+says("secret")), ended}, true},
		"of a visible call":         {[]string{visible, raised, ended}, true},
		"a code alone":              {[]string{hidden, by("a", `"finishReason":"STOP","errorMessage":"",`+content(`{"text":"hi"}`))}, true},
	} {
		checkLastPart(t, name, c.leaves, c.sent)
	}
}

// checkLastPart sends frames in each spelling. The last one leaves as it is, or else only in part and without a secret.
func checkLastPart(t *testing.T, name string, leaves bool, sent []string) {
	t.Helper()
	for spelling, spelled := range spellings {
		frames := make([]string, len(sent))
		for i, frame := range sent {
			if frames[i] = frame; strings.Contains(frame, "invocationId") {
				frames[i] = spelled(frame)
			}
		}
		got := leavesOf(t, &event.Stream{}, event.PolicyClient, frames...)
		last := got[len(got)-1]
		if (last == frames[len(frames)-1]) != leaves || !leaves && (last == withheld || strings.Contains(last, "secret")) {
			t.Errorf("%s, %s: the last frame leaves as %s", name, spelling, last)
		}
	}
}
