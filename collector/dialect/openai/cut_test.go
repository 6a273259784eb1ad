package openai_test

import (
	"slices"
	"strings"
	"testing"
)

// TestCutResponses ends runs of the Agents SDK while a response is open. Its agent has not answered if the stream would have shown it.
func TestCutResponses(t *testing.T) {
	begun, whole, next := []string{begins("a"), createdOf("r"), messageOf(1, "added", "i"), textOf("i", "x")}, responseOf("j", "y"), responseOf("k", "z")
	for name, c := range map[string]struct {
		isCut bool
		sent  []string
	}{
		"its only response":           {true, begun},
		"its last response":           {true, slices.Concat(begun[:1], handsOff("f", "g"), []string{callItem("a", "cf", "g"), outputItem("a", "cf")}, next[:2])},
		"a whole response":            {false, slices.Concat(begun[:1], whole)},
		"no ends of responses":        {false, slices.Concat(begun[:1], handsOff("f", "g")[:2], []string{callItem("a", "cf", "g"), outputItem("a", "cf")}, next[:2])},
		"no agent":                    {true, begun[1:]},
		"a model of another API":      {true, []string{agentA, unnamed, piece}},
		"a message of such a model":   {false, []string{agentA, unnamed, piece, message}},
		"a message":                   {false, slices.Concat(begun, []string{saysItem("a", "i", "x")})},
		"a whole text":                {false, slices.Concat(begun, []string{raw(4, "output_text.done", `"output_index":0,"item_id":"i","content_index":0,"text":"x"`)})},
		"a whole item":                {false, slices.Concat(begun, []string{messageOf(5, "done", "i")})},
		"no start of the response":    {false, slices.Concat(begun[:1], begun[2:])},
		"two agents":                  {false, slices.Concat(begun, []string{begins("b")}, whole[:3])},
		"an item after the beginning": {false, slices.Concat(begun[:2], []string{callItem("a", "c", "f")})},
	} {
		if facts := factsOf(stream(append(c.sent, "[DONE]")...)); strings.Contains(facts, "cuts") != c.isCut {
			t.Errorf("%s: the facts are: %s", name, facts)
		}
	}
}

// TestCutRun shows the tree of a run that ends within its only response.
func TestCutRun(t *testing.T) {
	tree := treeOf(t, begins("a"), createdOf("r"), messageOf(1, "added", "i"), textOf("i", "x"), "[DONE]")
	if !strings.Contains(tree, "incomplete") {
		t.Errorf("the tree is:\n%s", tree)
	}
}

// TestFailedResponses ends runs after a failed response. Such a run has failed, unless another agent goes on.
func TestFailedResponses(t *testing.T) {
	failed := raw(1, "failed", `"response":{"id":"r","status":"failed","error":{"code":"server_error","message":"m"}}`)
	last := []string{begins("a"), createdOf("r"), failed}
	inCall := slices.Concat([]string{begins("a"), createdOf("q"), calledOf(2, "c", "w"), completedOf(3, "q", ""), callItem("a", "c", "w"), begins("b"), createdOf("r"), failed, outputItem("a", "c")}, responseOf("i", "x"))
	for name, c := range map[string]struct {
		want string
		sent []string
	}{
		"the last response": {"failed", last},
		"no agent":          {"failed", last[1:]},
		"a response in JavaScript": {"failed", []string{agentA, ofModel(created),
			ofModel(`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"server_error","message":"m"}}}`)}},
		"a response after it": {"completed", slices.Concat(last, responseOf("i", "x"))},
		"an agent in a call":  {"completed", inCall},
	} {
		sent := append(c.sent, "[DONE]")
		if tree := treeOf(t, sent...); !strings.HasPrefix(tree, c.want+"\n") {
			t.Errorf("%s: the tree is:\n%s", name, tree)
		}
		checkTruth(t, name, stream(sent...))
	}
}
