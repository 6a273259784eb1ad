package adkserver

import (
	"fmt"
	"strings"
)

// wantShape returns the expected shape of a recording. A shape for the language or for streaming overrides
// the general one.
func wantShape(language, file string) string {
	base := strings.TrimSuffix(file, ".sse")
	name, _, _ := strings.Cut(base, ".")
	for _, key := range []string{language + "/" + base, language + "/" + name, base, name} {
		if want, found := shapes[key]; found {
			return strings.TrimSpace(want)
		}
	}
	return "no expected shape"
}

// shapes holds the expected shapes, in the format of shape.
var shapes = map[string]string{
	"plain":   `coordinator says "This is a plain answer."`,
	"stream":  `coordinator says "This answer comes in several chunks."`,
	"slow":    scriptedShape("slow"),
	"unicode": scriptedShape("unicode"),
	"thought": `coordinator thinks "The user wants an answer.", says "Here it is."`,
	"parallel_tools": `
coordinator calls get_weather, calls get_time
coordinator answered get_weather, answered get_time
coordinator says "It is half past ten in Oslo, and sunny."`,
	"agent_tool": `
coordinator calls summarizer
coordinator answered summarizer
coordinator says "The summary is short."`,
	"text_and_tool": `
coordinator says "Let me look. ", calls get_weather
coordinator answered get_weather
coordinator says "It is sunny."`,
	"js/text_and_tool.stream": `
coordinator says "Let me look. "
coordinator calls get_weather
coordinator answered get_weather
coordinator says "It is sunny."`,
	"transfer": `
coordinator calls transfer_to_agent
coordinator answered transfer_to_agent, transfers to billing_agent
billing_agent calls lookup_invoice
billing_agent answered lookup_invoice
billing_agent says "The invoice INV-1 is 42.50."`,
	"js/transfer.stream": `
coordinator calls transfer_to_agent
coordinator answered transfer_to_agent, transfers to billing_agent
billing_agent calls lookup_invoice
billing_agent answered lookup_invoice
billing_agent says "The invoice INV-1 is 42.50."
coordinator says "Billing has answered."`,
	"python/artifact": `
coordinator calls save_report
coordinator answered save_report
coordinator saves report.txt
coordinator says "The report is saved."`,
	"js/artifact": `
coordinator calls save_report
coordinator answered save_report, saves report.txt
coordinator says "The report is saved."`,

	"long_running": `
coordinator asks request_approval
coordinator answered request_approval
coordinator says "The approval is noted."`,
	"long_running.answered":        `coordinator says "The approval is noted."`,
	"long_running_silent":          `coordinator asks request_signature`,
	"long_running_silent.answered": `coordinator says "The signature is noted."`,
	"js/long_running_silent.stream": `
coordinator asks request_signature
coordinator says "The signature is noted."`,
	"python/confirmation": `
coordinator calls delete_files
coordinator asks adk_request_confirmation
coordinator failed delete_files`,
	"js/confirmation": `
coordinator calls delete_files
coordinator asks adk_request_confirmation`,
	"python/confirmation.answered": confirmed,
	"js/confirmation.answered":     confirmed,

	"python/failing_tool": `
coordinator calls failing_tool
coordinator fails with ValueError
error frame`,
	"js/failing_tool": `
coordinator calls failing_tool
coordinator failed failing_tool
coordinator says "The tool has failed."`,
	"python/parallel_failing": `
coordinator calls get_weather, calls failing_tool
coordinator answered get_weather
coordinator fails with ValueError
error frame`,
	"js/parallel_failing": `
coordinator calls get_weather, calls failing_tool
coordinator answered get_weather, failed failing_tool
coordinator says "One tool has failed."`,
	"python/unknown_tool": `
coordinator calls no_such_tool
coordinator failed no_such_tool
coordinator says "There is no such tool."`,
	"js/unknown_tool": `
coordinator calls no_such_tool
coordinator fails with UNKNOWN_ERROR
coordinator says "There is no such tool."`,

	"max_tokens":        `coordinator says "This answer is cut"`,
	"max_tokens.stream": `coordinator says "This answer is cut", fails with MAX_TOKENS`,
	"safety":            `coordinator fails with SAFETY`,
	"js/safety.stream": `
coordinator fails with SAFETY
coordinator fails with SAFETY`,
	"python/model_error": `
coordinator fails with UNAVAILABLE
error frame`,
	"js/model_error": `coordinator fails with 503`,
	"python/model_error_after_tool": `
coordinator calls get_weather
coordinator answered get_weather
coordinator fails with RESOURCE_EXHAUSTED
error frame`,
	"js/model_error_after_tool": `
coordinator calls get_weather
coordinator answered get_weather
coordinator fails with 429`,
	"python/model_error_midway": `
coordinator fails with RemoteProtocolError
error frame`,
	"python/model_error_midway.stream": `
coordinator fails with RemoteProtocolError
error frame
unfinished text "This answer breaks "`,
	"js/model_error_midway": `coordinator fails with UNKNOWN_ERROR`,
	"js/model_error_midway.stream": `
coordinator fails with UNKNOWN_ERROR
unfinished text "This answer breaks "`,
}

const confirmed = `
coordinator answered delete_files
coordinator says "The folder is handled."`

// scriptedShape returns the shape of an answer that equals its script.
func scriptedShape(name string) string {
	text := ""
	for _, parts := range scripts[name][coordinator][0].chunks {
		for _, p := range parts {
			text += p.Text
		}
	}
	return fmt.Sprintf("coordinator says %q", text)
}
