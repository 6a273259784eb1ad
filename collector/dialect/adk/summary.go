package adk

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// isSummary reports whether an event is a summary of the session (see wire.IsSummary). JavaScript's servers send it, also as the event of a
// remote agent.
//
// Source: dist/esm/agents/processors/context_compactor_request_processor.js of @google/adk 2.0.
func (f *frame) isSummary() bool { return wire.MayBeTrue(f.compacted) || f.remote.IsSummary }

// isSummaryOf reports whether an event is, or has in its actions, a summary of a session of which something was withheld. Python's sessions
// store it in the actions.
//
// Source: google/adk/apps/llm_event_summarizer.py of google-adk 2.13.
func (w *withheld) isSummaryOf(fr *frame) bool {
	return (fr.isSummary() || fr.actionsValue.Get("compaction").Kind() > strictjson.Null) && w.values.MayBeSummarized()
}
