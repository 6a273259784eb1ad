package tracker

import (
	"crypto/sha256"
	"strconv"
)

// Ids are derived, so that a stream that is read again makes the same spans and not others.

// runKey names a run among all: by source, session and id, and by the stream's nonce where the id does not tell runs apart. It
// says nothing where it is empty; and adk-python uses it again for the request that answers a long-running call, as a caller may
// send several requests in one trace.
func runKey(r *openRun) string {
	nonce := ""
	if r.ID == "" || r.stream.Answer {
		nonce = r.stream.Nonce
	}
	if r.again > 0 {
		nonce += "#" + strconv.Itoa(r.again)
	}
	return join(r.Source, r.Session, r.ID, nonce)
}

func derive(key string, parts ...string) [sha256.Size]byte {
	var stack [512]byte
	b := append(append(stack[:0], key...), 1)
	return sha256.Sum256(appendJoined(b, parts))
}

func join(parts ...string) string { return string(appendJoined(nil, parts)) }

// appendJoined keeps parts apart that hold the separators themselves: names come from the wire.
func appendJoined(dst []byte, parts []string) []byte {
	for i, part := range parts {
		if i > 0 {
			dst = append(dst, 0)
		}
		for _, c := range []byte(part) {
			if c <= 2 {
				dst = append(dst, 2)
			}
			dst = append(dst, c)
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

// identify returns an operation's id. The first need fixes it: by then, what the operation runs may have been told of.
func (r *openRun) identify(op *Operation) SpanID {
	op.ID = r.idOf(op)
	return op.ID
}

// idOf returns the id that an operation has or would have: an agent is named by itself and its branch, a call by its id and how often
// that was used, anything else by its ordinal.
func (r *openRun) idOf(op *Operation) SpanID {
	switch {
	case op.ID != SpanID{}:
		return op.ID
	case op == r.Root && r.raised:
		return spanID(r.key, "workflow")
	case op == r.Root, op.course != nil && op.first:
		return spanID(r.key, "run")
	case op.Kind.Invokes() && op.repeat > 0:
		return spanID(r.key, string(InvokeAgent), op.Name, op.Branch, strconv.Itoa(int(op.repeat)))
	case op.Kind.Invokes():
		return spanID(r.key, string(InvokeAgent), op.Name, op.Branch)
	case op.CallID != "":
		return spanID(r.key, string(ExecuteTool), op.CallID, strconv.Itoa(int(op.repeat)))
	}
	return spanID(r.key, string(op.Kind), "", strconv.Itoa(op.ordinal))
}
