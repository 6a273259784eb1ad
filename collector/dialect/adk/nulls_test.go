package adk_test

import (
	"strings"
	"testing"
)

// TestNullMembers checks events in which null stands for members that are not set, as in stored events. These name no call.
func TestNullMembers(t *testing.T) {
	const nulls = `"functionCall":null,"functionResponse":null,"executableCode":null,"codeExecutionResult":null,"toolCall":null,"toolResponse":null`
	hidden := []string{by("a", internal+content(called("c", "secret"))), by("a", content(responded("c")))}
	for name, last := range map[string]string{
		"a text":   content(`{"text":"hi",` + nulls + `}`),
		"a call":   content(`{"text":null,` + strings.Replace(nulls, `null`, `{"id":"d","name":"look","args":{}}`, 1) + `}`),
		"no parts": `"output":"hi","content":null`,
	} {
		checkLast(t, name, true, append(hidden, by("a", last))...)
	}
}
