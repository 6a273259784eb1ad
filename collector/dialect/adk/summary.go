package adk

import "github.com/delegraph/delegraph/collector/dialect/wire"

// isSummary reports whether an event is a summary of the session (see wire.IsSummary). JavaScript's servers send it, also as the event of a
// remote agent.
//
// Source: dist/esm/agents/processors/context_compactor_request_processor.js of @google/adk 2.0.
func (f *frame) isSummary() bool { return wire.MayBeTrue(f.compacted) || f.remote.IsSummary }
