package tracker

import (
	"crypto/sha256"
	"strconv"
	"strings"
)

// Ids are derived, so that a stream that is read again makes the same spans and not others.

// runKey names a run among all: by source, session and id, and by the stream's nonce where the id says nothing.
func runKey(r *openRun) string {
	nonce := ""
	if r.ID == "" || r.Live && !r.Parent.Valid() {
		nonce = r.stream.Nonce
	}
	return strings.Join([]string{r.Source, r.Session, r.ID, nonce}, "\x00")
}

func derive(key string, parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(key + "\x01" + strings.Join(parts, "\x00")))
}

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
