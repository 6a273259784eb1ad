package adk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// at returns members that say where a node works.
func at(path string) string { return `"nodeInfo":{"path":"` + path + `"},` }

func responds(args string) string {
	return content(`{"functionCall":{"id":"s","name":"set_model_response","args":` + args + `}}`)
}

func says(text string) string {
	return content(`{"text":"` + strings.ReplaceAll(text, `"`, `\"`) + `"}`)
}

// TestCopiesOfResponses checks the text that repeats what an internal event passed to set_model_response.
func TestCopiesOfResponses(t *testing.T) {
	hidden := by("a", internal+responds(`{"x":"v","n":20}`))
	result := func(response string) string {
		return by("a", content(`{"functionResponse":{"id":"s","name":"set_model_response","response":`+response+`}}`))
	}
	list := []string{by("a", internal+responds(`{"items":[{"x":1}]}`)), result(`{"result":[{"x":1}]}`)}
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"the arguments":               {[]string{hidden, by("a", says(`{"n": 20.0, "x": "v"}`))}, false},
		"beside another text":         {[]string{hidden, by("a", content(`{"text":"hi"}`, `{"text":"{\"x\":\"v\",\"n\":20}"}`))}, false},
		"what the tool made of them":  {[]string{hidden, result(`{"x":"v","n":20,"y":"default"}`), by("a", says(`{"x":"v","n":20,"y":"default"}`))}, false},
		"a list":                      {append(list, by("a", says(`[{"x":1}]`))), false},
		"a list in the arguments":     {[]string{list[0], by("a", says(`[{"x":1}]`))}, false},
		"a value in the arguments":    {[]string{by("a", internal+responds(`{"response":"v"}`)), by("a", says(`"v"`))}, false},
		"a stream of the arguments":   {[]string{by("a", internal+`"partial":true,`+responds(`{"x":1}`)), by("a", says(`{"x":1}`))}, false},
		"another text":                {[]string{hidden, by("a", says(`{"x":"v","n":21}`))}, true},
		"a member":                    {[]string{hidden, by("a", says(`v`))}, true},
		"the text of another agent":   {[]string{hidden, by("b", says(`{"x":"v","n":20}`))}, true},
		"the arguments of other":      {[]string{by("a", internal+content(called("c", "v"))), by("a", says(`{"x":"v"}`))}, true},
		"without a mark":              {[]string{by("a", responds(`{"x":1}`)), by("a", says(`{"x":1}`))}, true},
		"an unreadable call":          {[]string{by("a", internal+responds(`{"US":1,"us":2}`)), by("a", says(`{"US":1,"us":2}`))}, false},
		"a text after such a call":    {[]string{by("a", internal+responds(`{"US":1,"us":2}`)), by("a", says(`hi`))}, true},
		"after another unreadable":    {[]string{by("a", internal+content(called("c", `","X":"`))), by("a", says(`{"US":1,"us":2}`))}, true},
		"an unreadable public call":   {[]string{by("a", responds(`{"US":1,"us":2}`)), by("a", says(`{"US":1,"us":2}`))}, true},
		"a text without what it says": {[]string{hidden, by("a", content(`{"text":""}`))}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}

// TestCopiesOfOutputs checks the outputs of nodes that repeat what an internal node answered.
func TestCopiesOfOutputs(t *testing.T) {
	said := by("a", internal+at("w@1/a@1")+says("secret"))
	short := by("w", internal+at("w@1/a@1")+`"output":"ok"`)
	object := by("w", internal+at("w@1/a@1")+`"output":{"x":{"y":"secret"}}`)
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"a join":                       {[]string{said, by("w", at("w@1/join@1")+`"output":{"b":"1","a":"secret"}`)}, false},
		"a join of short outputs":      {[]string{short, by("w", at("w@1/join@1")+`"output":{"b":"1","a":"ok"}`)}, false},
		"a join of a workflow":         {[]string{by("w", internal+at("w@1/v@1/a@1")+`"output":"ok"`), by("w", at("w@1/join@1")+`"output":{"v":"ok"}`)}, false},
		"a join of that":               {[]string{short, by("w", at("w@1/join@1")+`"output":{"a":"ok"}`), by("w", at("w@1/two@1")+`"output":{"join":{"a":"ok"}}`)}, false},
		"a join in JavaScript":         {[]string{by("a", internal+at("w.a")+`"output":"ok"`), by("join", at("w.join")+`"output":{"a":"ok"}`)}, false},
		"a parallel worker":            {[]string{by("w", internal+at("w@1/a@1/a@2")+`"output":"ok"`), by("w", at("w@1/a@1")+`"output":["1","ok"]`)}, false},
		"a function":                   {[]string{said, by("w", at("w@1/f@1")+`"output":"secret"`)}, false},
		"a function without a path":    {[]string{short, by("a", `"output":"ok"`)}, false},
		"a list":                       {[]string{said, by("w", at("w@1/f@1")+`"output":[1,["secret"]]`)}, false},
		"a member":                     {[]string{object, by("w", at("w@1/f@1")+`"output":{"z":{"x":{"y":"secret"}}}`)}, false},
		"JSON in a text":               {[]string{object, by("w", at("w@1/f@1")+`"output":"{\"x\": {\"y\": \"secret\"}}"`)}, false},
		"a text in parts":              {[]string{by("a", internal+content(`{"text":"se"}`, `{"text":"cret","thought":true}`, `{"text":"cret"}`)), by("w", at("w@1/f@1")+`"output":"secret"`)}, false},
		"a stored output":              {[]string{short, by("w", at("w@1/a@2")+`"output":"ok"`)}, false},
		"a part of an output":          {[]string{object, by("w", at("w@1/f@1")+`"output":{"y":"other"}`)}, true},
		"a text in a text":             {[]string{said, by("w", at("w@1/f@1")+`"output":"no secret"`)}, true},
		"a short output by chance":     {[]string{short, by("w", at("w@1/f@1")+`"output":"ok"`)}, true},
		"short outputs by chance":      {[]string{short, by("w", at("w@1/join@1")+`"output":{"a":"no","b":"ok","c":true}`)}, true},
		"another number":               {[]string{by("w", internal+at("w@1/a@1")+`"output":7`), by("w", at("w@1/f@1")+`"output":{"x":7}`)}, true},
		"an empty output":              {[]string{by("w", internal+at("w@1/a@1")+`"output":{}`), by("w", at("w@1/join@1")+`"output":{"a":{}}`)}, true},
		"a piece":                      {[]string{by("a", internal+at("w@1/a@1")+`"partial":true,`+says("secret")), by("w", at("w@1/f@1")+`"output":"secret"`)}, true},
		"a model's output":             {[]string{said, by("b", at("w@1/b@1")+`"usageMetadata":{"promptTokenCount":1},"output":{"x":"secret"},`+says(`{"x":"secret"}`))}, true},
		"the end of a task":            {[]string{said, by("b", at("w@1/b@1")+`"output":{"x":"secret"},`+content(`{"functionResponse":{"id":"f","name":"finish_task","response":{"result":"Task completed."}}}`))}, true},
		"an output before":             {[]string{by("w", at("w@1/f@1")+`"output":"secret"`)}, true},
		"a text that is equal":         {[]string{said, by("b", says("secret"))}, true},
		"the same output without mark": {[]string{by("w", at("w@1/a@1")+`"output":"secret"`), by("w", at("w@1/f@1")+`"output":"secret"`)}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
	frames := []string{}
	for i := range 1024 {
		frames = append(frames, by("w", fmt.Sprintf(`%s%s"output":"answer %d"`, internal, at("w@1/a@1"), i)))
	}
	checkLast(t, "beyond the limit", false, append(frames, by("w", at("w@1/join@1")+`"output":{"a":"x"}`))...)
}

// TestCopiesOfResults checks the results of calls that ran an internal agent. The rest of the event leaves.
func TestCopiesOfResults(t *testing.T) {
	call := by("b", content(`{"functionCall":{"id":"c","name":"a","args":{}}}`, `{"functionCall":{"id":"d","name":"look","args":{}}}`))
	said := func(text string) string { return by("a", internal+`"branch":"a@c",`+says(text)) }
	const other = `{"functionResponse":{"id":"d","name":"look","response":{"result":"secret"}}}`
	result := func(name, response string) string {
		if response != "" {
			response = `,"response":` + response
		}
		return by("b", content(`{"functionResponse":{"id":"c","name":"`+name+`"`+response+`}}`, other))
	}
	for name, c := range map[string]struct {
		hidden, tool, response string
		isCut                  bool
	}{
		"a text":                     {said("secret"), "a", `{"result":"secret"}`, true},
		"a short text":               {said("ok"), "a", `{"result":"ok"}`, true},
		"with white space":           {said("secret words"), "a", `{"result":"secret  words\n"}`, true},
		"an object":                  {said(`{"x":1}`), "a", `{"x":1}`, true},
		"an object of a task":        {by("a", internal+`"branch":"a@c","output":{"x":1}`), "a", `{"x":1}`, true},
		"a value of a task":          {by("a", internal+`"isolationScope":"c","output":"ok"`), "a", `{"output":"ok"}`, true},
		"the arguments":              {by("a", internal+content(`{"functionCall":{"id":"f","name":"finish_task","args":{"result":"ok"}}}`)), "a", `{"output":"ok"}`, true},
		"a node":                     {by("n", internal+`"nodeInfo":{"path":"b@1/a@c/n@1"},"output":"secret"`), "a", `{"result":{"n":"secret"}}`, true},
		"an unknown tool":            {said("secret"), "z", `{"result":"secret"}`, true},
		"an answer that is changed":  {said("secret"), "a", `{"result":"SECRET"}`, true},
		"an unknown tool's answer":   {said("secret"), "z", `{"result":"public"}`, true},
		"another answer":             {by("a", internal+says("secret")), "a", `{"result":"public"}`, false},
		"a short value in an object": {by("a", internal+says("ok")), "a", `{"x":{"y":"ok"}}`, false},
		"a piece of an answer":       {by("a", internal+`"partial":true,"branch":"a@c",`+says("secret")), "a", `{"result":"public"}`, false},
		"a text before a call":       {by("a", internal+`"branch":"a@c",`+content(`{"text":"secret"}`, called("e", "x"))), "a", `{"result":"public"}`, false},
		"a call that answers":        {by("a", internal+`"branch":"a@c",`+responds(`{"x":"secret"}`)), "a", `{"x":"SECRET"}`, true},
		"of another call":            {by("a", internal+`"branch":"a@e",`+says("secret")), "a", `{"result":"public"}`, false},
		"of an agent within":         {by("e", internal+`"branch":"a@c.e@f",`+says("secret")), "a", `{"result":"public"}`, false},
		"another agent's":            {by("e", internal+says("secret")), "a", `{"result":"secret"}`, false},
		"without a mark":             {by("a", `"branch":"a@c",`+says("secret")), "a", `{"result":"secret"}`, false},
	} {
		for spelling, spelled := range spellings {
			sent, want := spelled(result(c.tool, c.response)), spelled(result(c.tool, c.response))
			if c.isCut {
				want = spelled(result(c.tool, ""))
			}
			if got := leavesOf(t, &event.Stream{}, event.PolicyClient, spelled(call), spelled(c.hidden), sent)[2]; got != want {
				t.Errorf("%s, %s: the result leaves as %s, want %s", name, spelling, got, want)
			}
		}
	}
}

// TestLastAnswers checks the result of a call that ran an agent with several answers.
func TestLastAnswers(t *testing.T) {
	said := func(more string) string { return by("a", more+`"branch":"a@c",`+says("words")) }
	const result = `{"functionResponse":{"id":"c","name":"a","response":{"result":"WORDS"}}}`
	for name, c := range map[string]struct {
		sent  []string
		isCut bool
	}{
		"the first is internal": {[]string{said(internal), said("")}, false},
		"the last is internal":  {[]string{said(""), said(internal)}, true},
		"the first comes again": {[]string{said(`"id":"x","timestamp":1,`), said(internal), said(`"id":"x","timestamp":1,`)}, true},
		"the last ends a task":  {[]string{said(internal), by("a", `"branch":"a@c",`+content(`{"functionCall":{"id":"f","name":"finish_task","args":{"result":"words"}}}`))}, false},
		"the last is an output": {[]string{said(internal), by("a", `"branch":"a@c","output":"words too"`)}, false},
		"the last has a call":   {[]string{said(""), by("a", internal+`"branch":"a@c",`+content(`{"functionCall":{"id":"f","name":"finish_task","args":{"result":"words"}}}`, called("d", "1")))}, true},
		"the last is a call":    {[]string{said(internal), by("a", `"branch":"a@c",`+content(`{"text":"hi"}`, called("d", "1")))}, true},
	} {
		got := leavesOf(t, &event.Stream{}, event.PolicyClient, append(c.sent, by("b", content(result)))...)
		if last := got[len(got)-1]; strings.Contains(last, "WORDS") == c.isCut || !strings.Contains(last, "functionResponse") {
			t.Errorf("%s: the result leaves as %s", name, last)
		}
	}
}

// TestCopiesOnOtherStreams checks what another stream of the session withholds of what one has withheld.
func TestCopiesOnOtherStreams(t *testing.T) {
	sent := []string{by("a", internal+`"branch":"a@c",`+says("secret")), by("a", internal+responds(`{"x":1}`))}
	copies := []string{
		by("w", at("w@1/f@1")+`"output":"secret"`), by("a", says(`{"x":1}`)),
		by("b", content(`{"functionResponse":{"id":"c","name":"a","response":{"result":"secret"}}}`)),
	}
	for session, leaves := range map[string]bool{"s": false, "t": true} {
		memory := new(event.Withheld)
		stream := func(session string) *event.Stream {
			return &event.Stream{Withheld: memory, Identity: event.Identity{App: "app", User: "u", Session: session}}
		}
		leavesOf(t, stream("s"), event.PolicyClient, sent...)
		for i, got := range leavesOf(t, stream(session), event.PolicyClient, copies...) {
			if (got == copies[i]) != leaves || !leaves && strings.Contains(got, "secret") {
				t.Errorf("in the session %s, %s leaves as %s", session, copies[i], got)
			}
		}
	}
}

// TestCopiesOfCode checks the events of a code executor: the code that it takes from a response, and the result.
func TestCopiesOfCode(t *testing.T) {
	pieces := []string{by("a", internal+`"partial":true,`+says("I run ")), by("a", internal+`"partial":true,`+says("```python secret ```"))}
	const part, result = `{"executableCode":{"code":"secret"}}`, `{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"secret"}}`
	code := by("a", content(`{"text":"I run "}`, part))
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"the code":             {append(pieces, code), false},
		"without a text":       {append(pieces, by("a", content(part))), false},
		"the result":           {append(pieces, code, by("a", content(result))), false},
		"the next code":        {append(pieces, code, by("a", content(result)), code), true},
		"of another agent":     {append(pieces, by("b", content(part))), true},
		"of another branch":    {append(pieces, by("a", `"branch":"x",`+content(part))), true},
		"of the model":         {append(pieces, by("a", `"usageMetadata":{"promptTokenCount":1},`+content(part))), true},
		"after the whole":      {append(pieces, by("a", says("I run ```python secret ```")), code), true},
		"of public pieces":     {[]string{by("a", `"partial":true,`+says("I run")), code}, true},
		"another text":         {append(pieces, by("a", says("hi"))), true},
		"of a whole response":  {[]string{by("a", internal+says("hi")), code}, true},
		"without any response": {[]string{code}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}

// TestCopiesInActions checks the values in the actions of an event that have the answer in an internal one. The rest of the event leaves.
func TestCopiesInActions(t *testing.T) {
	said := by("a", internal+says(`the secret\nanswer`))
	short := by("a", internal+says("secret"))
	object := by("w", internal+`"output":{"x":"secret","n":1}`)
	for name, c := range map[string]struct{ hidden, kept, cut string }{
		"a state":                  {said, `"stateDelta":{"y":"other"`, `,"x":"the secret\nanswer"`},
		"a state of several texts": {said, `"stateDelta":{"y":"other"`, `,"x":"hithe secret\nanswer hello"`},
		"in a list":                {said, `"stateDelta":{"y":["other"`, `,"the secret answer"`},
		"in an object":             {said, `"stateDelta":{"y":{"x":{"y":1`, `,"x":"the secret answer"`},
		"a short answer":           {short, `"stateDelta":{"y":"other"`, `,"x":"secret"`},
		"an object in a state":     {object, `"stateDelta":{"y":"other"`, `,"x":{"n":1,"x":"secret"}`},
		"an object by a schema":    {by("a", internal+`"actions":{"stateDelta":{"x":{"x":"secret","n":1,"z":2}}},`+says(`{"x":"secret","n":1}`)), `"stateDelta":{"y":"other"`, `,"x":{"n":1,"x":"secret","z":2}`},
		"a text in such a state":   {by("a", internal+`"actions":{"stateDelta":{"x":"secret"}},`+says(`hi`)), `"stateDelta":{"x":"secret"`, ``},
		"JSON in a string":         {object, `"stateDelta":{"y":"other"`, `,"x":"{\"n\":1,\"x\":\"secret\"}"`},
		"a route":                  {said, `"route":["other"`, `,"the secret answer"`},
		"an agent's state":         {said, `"agentState":{"y":1`, `,"input":"the secret answer"`},
		"the hint of a question":   {said, `"requestedToolConfirmations":{"d":{"payload":1`, `,"hint":"the secret answer?"`},
		"a member of an object":    {by("w", internal+`"output":{"x":"secret number 7"}`), `"stateDelta":{"y":"secret number 7"`, ``},
		"a part of a short answer": {short, `"stateDelta":{"x":"no secret"`, ``},
		"a part of an answer":      {said, `"stateDelta":{"x":"the secret"`, ``},
		"a long state":             {said, `"stateDelta":{"x":"` + strings.Repeat("other ", 10<<10) + `"`, ``},
		"the name of an agent":     {short, `"transferToAgent":"secret","x":{"y":1`, ``},
		"without an answer":        {by("a", internal+content(called("c", "secret answer"))), `"stateDelta":{"x":"secret answer"`, ``},
		"an answer without a mark": {by("a", says("secret answer")), `"stateDelta":{"x":"secret answer"`, ``},
		"that the event says":      {short, `"stateDelta":{"x":"secret"}},` + content(`{"text":"secret"}`) + `,"x":{"y":{"z":1`, ``},
	} {
		sent, want := by("b", `"actions":{`+c.kept+c.cut+endOf(c.kept)), by("b", `"actions":{`+c.kept+endOf(c.kept))
		if got := leavesOf(t, &event.Stream{}, event.PolicyClient, c.hidden, sent)[1]; got != want {
			t.Errorf("%s: the event leaves as %s, want %s", name, got, want)
		}
	}
}

// endOf returns the braces and brackets that end JSON after a member of actions.
func endOf(members string) (end string) {
	end = "}"
	for _, c := range members {
		switch c {
		case '{':
			end = "}" + end
		case '[':
			end = "]" + end
		case '}', ']':
			end = end[1:]
		}
	}
	return end
}
