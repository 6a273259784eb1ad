package tracker

import (
	"crypto/sha256"
	"strconv"
	"strings"
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
	return join(r.Source, r.Session, r.ID, nonce)
}

func derive(key string, parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(key + "\x01" + join(parts...)))
}

// join keeps parts apart that hold the separators themselves: names come from the wire.
func join(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, part := range parts {
		escaped[i] = separators.Replace(part)
	}
	return strings.Join(escaped, "\x00")
}

var separators = strings.NewReplacer("\x00", "\x02\x00", "\x01", "\x02\x01", "\x02", "\x02\x02")

func traceID(key string) (id [16]byte) {
	sum := derive(key, "trace")
	copy(id[:], sum[:])
	return id
}

func spanID(key string, kind OperationKind, parts ...string) (id SpanID) {
	sum := derive(key, append([]string{string(kind)}, parts...)...)
	copy(id[:], sum[:])
	return id
}

// identify gives an operation its id: an agent is named by itself and its branch, a call by its id and how often that was
// used, anything else by its ordinal.
func (r *openRun) identify(op *Operation) SpanID {
	switch {
	case op == r.Root:
		return spanID(r.key, "run")
	case op.Kind == InvokeAgent:
		return spanID(r.key, InvokeAgent, op.Name, op.Branch)
	case op.CallID != "":
		return spanID(r.key, ExecuteTool, op.CallID, strconv.Itoa(op.repeat))
	}
	return spanID(r.key, op.Kind, "", strconv.Itoa(op.ordinal))
}
