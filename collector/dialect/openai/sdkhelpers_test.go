package openai_test

import (
	"regexp"
)

// saidBy returns a message of an agent, which items show.
func saidBy(agent, text string) string {
	return item("message_output_created", agent, `"type":"message","role":"assistant","content":[{"type":"output_text","text":"`+text+`"}]`)
}

// workOf returns the events of a response of an agent, and of its item. Its text is in three of them.
func workOf(agent, id, text string) []string {
	message := `"type":"message","id":"` + id + `","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]`
	return []string{
		createdOf("r" + id), raw(1, "output_item.added", `"output_index":0,"item":{"type":"message","id":"`+id+`","role":"assistant","content":[]}`),
		raw(2, "output_text.delta", `"output_index":0,"item_id":"`+id+`","delta":"`+text+`"`), completedOf(3, "r"+id, "{"+message+"}"), item("message_output_created", agent, message),
	}
}

// flat puts the name of an event's or an item's agent in place of the agent, as applications do.
func flat(sent string) string { return agentObject.ReplaceAllString(sent, `"agent_name":$1`) }

// textOf returns a piece of a text in the Agents SDK's envelope, as applications pass it on that show only texts.
func textOf(item, text string) string {
	return raw(4, "output_text.delta", `"output_index":0,"content_index":0,"item_id":"`+item+`","delta":"`+text+`"`)
}

// handsOff returns the events of a response that calls a function.
func handsOff(id, tool string) []string {
	called := `{"type":"function_call","id":"f` + id + `","call_id":"c` + id + `","name":"` + tool + `","arguments":"{}"}`
	return []string{createdOf("r" + id), raw(1, "output_item.done", `"output_index":0,"item":`+called), completedOf(2, "r"+id, called)}
}

// responseOf returns the events of a response with one message.
func responseOf(id, text string) []string {
	message := `{"type":"message","id":"` + id + `","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}`
	return []string{createdOf("r" + id), raw(1, "output_item.added", `"output_index":0,"item":{"type":"message","id":"`+id+`","role":"assistant","content":[]}`), textOf(id, text), completedOf(5, "r"+id, message)}
}

// saysItem returns the item of a message of an agent.
func saysItem(agent, id, text string) string {
	return item("message_output_created", agent, `"type":"message","role":"assistant","id":"`+id+`","content":[{"type":"output_text","text":"`+text+`"}]`)
}

var agentObject = regexp.MustCompile(`"(?:new_)?agent":\{"name":("[^"]*")\}`)
