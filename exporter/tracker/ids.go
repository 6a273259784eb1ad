package tracker

import (
	"crypto/sha256"
	"strconv"
)

// Ids are derived from the stream, so that a stream that is read again yields the same spans.

// runKey returns the key that a run's ids are derived from: source, session and run id, and the
// stream's nonce if the id is not unique. An empty id is not unique. Neither is the id of a run that
// answers a request: adk-python gives a run and the later request that brings the result of its
// long-running call the same id. If the caller sends both in one trace, their spans must have different ids. A number is added if the stream
// had runs with the same key.
func runKey(r *openRun) string {
	nonce, number := "", 0
	if r.needsNonce() {
		nonce, number = r.stream.Nonce, r.streamState.nonceKeys
	} else if earlier, ended := r.tracker.endedRuns.Get(streamRun{r.stream, r.ID}); ended {
		number = earlier.count
	}
	if number > 0 {
		nonce += "#" + strconv.Itoa(number)
	}
	return join(r.Source, r.Session, r.ID, nonce)
}

// needsNonce reports whether the run's id is not unique.
func (r *openRun) needsNonce() bool { return r.ID == "" || r.stream.SingleRun }

// derive returns the hash of a key and parts, from which ids are cut.
func derive(key string, parts ...string) [sha256.Size]byte {
	var stack [512]byte
	b := append(append(stack[:0], key...), 1)
	return sha256.Sum256(appendJoined(b, parts))
}

func join(parts ...string) string { return string(appendJoined(nil, parts)) }

// appendJoined appends the parts with a separator between them. It escapes separators within a part,
// because names come from the stream: different parts never give the same bytes.
func appendJoined(dst []byte, parts []string) []byte {
	for i, part := range parts {
		if i > 0 {
			dst = append(dst, 0)
		}
		for part != "" {
			plain := 0
			for plain < len(part) && part[plain] > 2 {
				plain++
			}
			if dst = append(dst, part[:plain]...); plain < len(part) {
				dst = append(dst, 2, part[plain])
				plain++
			}
			part = part[plain:]
		}
	}
	return dst
}

func traceID(key string) (id [16]byte) {
	sum := derive(key, "trace")
	copy(id[:], sum[:])
	return id
}

func spanID(key string, parts ...string) (id SpanID) {
	sum := derive(key, parts...)
	copy(id[:], sum[:])
	return id
}

// identify returns an operation's id and fixes it, because its children may have been exported with
// it as their parent.
func (r *openRun) identify(op *Operation) SpanID {
	op.ID = r.idOf(op)
	return op.ID
}

// idOf returns the id that an operation has or would have now. The id of a node is derived from name
// and branch, that of a call from the call id, and any other from the ordinal. If name and branch or the
// call id were used before, their count is added.
func (r *openRun) idOf(op *Operation) SpanID {
	switch {
	case op.ID != SpanID{}:
		return op.ID
	case op == r.Root && r.hasAddedRoot:
		return spanID(r.key, "workflow")
	case op == r.Root, op.openState != nil && op.wasRoot:
		return spanID(r.key, "run")
	case op.Kind.Invokes() && op.earlierUses > 0:
		return spanID(r.key, string(InvokeAgent), op.Name, op.Branch, strconv.Itoa(int(op.earlierUses)))
	case op.Kind.Invokes():
		return spanID(r.key, string(InvokeAgent), op.Name, op.Branch)
	case op.CallID != "":
		return spanID(r.key, string(ExecuteTool), op.CallID, strconv.Itoa(int(op.earlierUses)))
	}
	return spanID(r.key, string(op.Kind), "", strconv.Itoa(op.ordinal))
}

// useKey identifies a name in a branch, or a call id.
type useKey struct {
	name, branch string
	isCall       bool
}

// countCallUse is countUse for a call's id, which is never "".
func (r *openRun) countCallUse(op *Operation) { r.countUse(op, useKey{op.CallID, "", true}) }

// countUse sets how often an operation's name or call id was used before, so that the ids of operations differ. If that is unknown,
// it sets the ordinal, which is an upper bound. An id that is already fixed does not change.
func (r *openRun) countUse(op *Operation, key useKey) {
	if len(r.uses) >= r.tracker.settings.MaxOperations { // an agent has moved to many branches
		r.hasForgotten, r.uses = true, nil
	}
	before := uint32(op.ordinal)
	if !r.hasForgotten {
		before = r.uses[key]
		put(&r.uses, key, before+1)
	}
	if op.ID == (SpanID{}) {
		op.earlierUses = before
	}
}
