package wire

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// a2aPrefix begins the members of the custom metadata in which an agent stores what it exchanged with a remote agent.
const a2aPrefix = "a2a:"

// AcceptKept accepts a frame for which lenient.CheckNames returns NamesInternal only because of messages and artifacts of a remote agent that
// were withheld before with the same marks: its task keeps them. CheckRemote withholds these. customs is the custom metadata of the agent's
// event. hasContent says that the event has something else than calls and results. Without metadata of its own, that may be what is marked,
// or a file that an internal call saved, so the event stays internal.
//
// Sources: google/adk/a2a/converters/from_adk_event.py, executor/interceptors/include_artifacts_in_a2a_event.py and
// agent/_remote_a2a_agent.py of google-adk 2.13.
func (w *WithheldValues) AcceptKept(b *event.Batch, p *lenient.Prefilter, hasContent bool, customs ...strictjson.Value) {
	if !w.kept.IsEmpty() && (!hasContent || hasOwnMetadata(b, customs)) && lenient.CheckNames(b, p) == event.NamesInternal {
		lenient.CheckRest(b, p, w.appendRest(nil, b, b.JSON, customs, false))
	}
}

// hasOwnMetadata reports whether custom metadata has a member that is not about a remote agent's answer.
func hasOwnMetadata(b *event.Batch, customs []strictjson.Value) bool {
	for _, custom := range customs {
		for name := range CustomMembers(b, custom) {
			if name.Exists() && !bytes.HasPrefix(name.Text(), []byte(a2aPrefix)) {
				return true
			}
		}
	}
	return false
}

// keptKey returns the key of a message or an artifact, or "" if v is neither.
func keptKey(b *event.Batch, v strictjson.Value) string {
	if !v.First("artifactId", "artifact_id", "messageId", "message_id").Exists() || !v.First("parts", "content").Exists() {
		return ""
	}
	return valueKey(hashValue(b, v))
}

// checkKept remembers a marked message or artifact that is withheld. It reports whether it withholds v because it was withheld before.
func (w *WithheldValues) checkKept(b *event.Batch, v strictjson.Value, isHidden bool) bool {
	key := keptKey(b, v)
	if key == "" {
		return false
	}
	isMarked := isHidden && lenient.HasInternalDiscriminator(b.Table, v)
	isKept := !isHidden && w.kept.Contains(key)
	if isMarked {
		w.kept.Add(key)
	}
	if isKept {
		b.Cut(v)
	}
	w.setRemoteAnswer(v, isMarked || isKept)
	return isKept
}

// setRemoteAnswer is SetAnswer for the agent of a message or an artifact.
func (w *WithheldValues) setRemoteAnswer(v strictjson.Value, isWithheld bool) {
	var tools []strictjson.Value
	hasSaid, metadata := false, v.Get("metadata")
	for part := range v.First("parts", "content").Elements() {
		hasSaid = hasSaid || part.Get("text").Exists()
		if data := part.Get("data"); data.Get("args").Exists() {
			tools = append(tools, data.Get("name"))
		}
	}
	if IsAnswer(hasSaid, tools...) {
		w.SetAnswer(isWithheld, metadata.First(ADKAuthors...).String(), metadata.First(adkBranches...))
	}
}

// appendRest appends a value without the messages and artifacts in customs that were withheld before with their marks. isInside says that
// the value is in one of customs.
func (w *WithheldValues) appendRest(dst []byte, b *event.Batch, v strictjson.Value, customs []strictjson.Value, isInside bool) []byte {
	isInside = isInside || slices.Contains(customs, v)
	isKept := func(v strictjson.Value) bool {
		key := ""
		if isInside {
			key = keptKey(b, v)
		}
		return key != "" && w.kept.Contains(key)
	}
	inner := v
	if isInside {
		inner = embedded(b, v)
	}
	switch kind := v.Kind(); {
	case inner != v:
		return strictjson.AppendQuoted(dst, w.appendRest(nil, b, inner, customs, true))
	case kind == strictjson.Object:
		dst = append(dst, '{')
		for name, value := range v.Members() {
			if !isKept(value) {
				dst = w.appendRest(append(append(separate(dst), name.Raw()...), ':'), b, value, customs, isInside)
			}
		}
		return append(dst, '}')
	case kind == strictjson.Array:
		dst = append(dst, '[')
		for element := range v.Elements() {
			if !isKept(element) {
				dst = w.appendRest(separate(dst), b, element, customs, isInside)
			}
		}
		return append(dst, ']')
	}
	return append(dst, v.Raw()...)
}

// separate appends a comma, except at the start of a list or object.
func separate(dst []byte) []byte {
	if last := dst[len(dst)-1]; last == '{' || last == '[' {
		return dst
	}
	return append(dst, ',')
}
