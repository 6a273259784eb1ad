package wire

import "github.com/delegraph/delegraph/collector/strictjson"

// IsSummary reports whether an A2A update of an artifact has the summary that ADK makes of a session's older events, to shorten what it sends
// to a model. No agent says it, and it may have anything of these events. An agent's event has an invocation.
//
// Source: dist/esm/context/summarizers/llm_summarizer.js of @google/adk 2.0.
func IsSummary(update strictjson.Value) bool {
	metadata := update.Get("metadata")
	return update.Get("artifact").Exists() && metadata.First(ADKAuthors...).Is("system") && metadata.First(adkInvocations...).Is("")
}

// sessionKey is the only key in WithheldValues.session.
const sessionKey = "session"

// AddToSession records that something of the session was withheld.
func (w *WithheldValues) AddToSession() { w.session.Add(sessionKey) }

// MayBeSummarized reports whether something of the session was withheld, which a summary of it may have.
func (w *WithheldValues) MayBeSummarized() bool { return w.unread || w.session.Contains(sessionKey) }
