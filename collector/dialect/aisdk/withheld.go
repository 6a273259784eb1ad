package aisdk

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// withholding says what was withheld, so that what continues it is withheld too.
type withholding struct {
	knownIDs           wire.SharedSet // of what was withheld, and of texts that are thoughts, on any stream of the agent
	chat               string         // the session, or "" if the request does not name it
	hasAnswers         bool           // the request continues a message, with answers to its questions or calls
	mayContinueMessage bool           // an earlier stream may have begun the current message
}

func newWithholding(s *event.Stream) withholding {
	w := withholding{chat: s.Session, hasAnswers: len(s.Answers) > 0, knownIDs: wire.NewSharedSet(s, "aisdk")}
	w.mayContinueMessage = w.hasAnswers || s.RequestDialect == ""
	w.knownIDs.SetScopes("agent") // a request that resumes an answer does not always name its chat
	return w
}

// sharedID identifies a part, call or question in knownIDs.
type sharedID struct{ kind, id string }

func sharedCall(id string) sharedID { return sharedID{"call", id} }

func sharedApproval(id string) sharedID { return sharedID{"approval", id} }

// sharedMessage identifies a message. Applications may count the messages of a chat.
func (w *withholding) sharedMessage(id string) sharedID {
	if wire.IsUnique(id) {
		return sharedID{"message", id}
	}
	return sharedID{"message of " + w.chat, id}
}

func markedText(id string) sharedID { return sharedID{"thought", id} }

func (s sharedID) String() string { return s.kind + " " + s.id }

// withhold makes later frames withheld that continue s. If s has no ID, all frames without a known start are withheld from then on.
func (d *decoder) withhold(s sharedID) {
	d.knownIDs.Add(s.String())
	d.missedStart = d.missedStart || s.id == ""
}

// missed says what may have started in unreadable frames, although later frames could start it too.
type missed struct {
	data    bool // a part that the application defines
	sources bool
	files   bool
	calls   bool // a call whose arguments arrive in pieces
}

// miss records an unreadable frame.
func (d *decoder) miss(f dialect.Frame) {
	data := f.Data
	d.missWork(f)
	d.missedStart = true
	d.missed.data = d.missed.data || mayContain(data, dataPrefix)
	d.missed.sources = d.missed.sources || mayContain(data, typeSourceURL) || mayContain(data, typeSourceDocument)
	d.missed.files = d.missed.files || slices.ContainsFunc(spellings(typeFile), func(word string) bool { return mayContain(data, word) }) || mayContain(data, typeReasoningFile)
	d.missed.calls = d.missed.calls || mayContain(data, typeToolInputStart)
}

// spellings returns how a type that is an ordinary word may be written: in JSON, in JSON within a text, and with other quotes.
func spellings(name string) []string {
	return []string{`"` + name + `"`, `"` + name + `\"`, `'` + name + `'`}
}

// mayContain reports whether an unreadable frame may contain a word. An escape may hide it, and of a frame over the size limit no
// data is known.
func mayContain(data []byte, word string) bool {
	return len(data) == 0 || bytes.Contains(data, []byte(word)) || bytes.Contains(data, []byte(`\u`))
}

// mayBeWithheld reports whether a part may belong to something withheld. Use it for a part without a start in the stream. Without an
// ID, or with a list or an object in its place, a part may belong to any withheld ID.
func (d *decoder) mayBeWithheld(s sharedID) bool {
	isUnclear := s.id == "" || s.id[0] == '[' || s.id[0] == '{'
	return d.missedStart || d.knownIDs.MayContain(s.String()) || isUnclear && !d.knownIDs.IsEmpty()
}

// isWithheldElsewhere reports whether a start repeats something that another stream withheld: on a stream that continues a message or, if
// the ID has a UUID, on any stream. A stream with the whole message marks internal parts itself.
func (d *decoder) isWithheldElsewhere(s sharedID) bool {
	return d.replacesWithheld(s) || d.repeatsUnique(s)
}

// replacesWithheld is isWithheldElsewhere for a part that comes whole. Its ID may be that of a document, which other answers cite.
func (d *decoder) replacesWithheld(s sharedID) bool {
	return d.mayContinueMessage && d.knownIDs.Contains(s.String())
}

// repeatsUnique is isWithheldElsewhere for a text or thought. Each message uses the short IDs of its texts again.
func (d *decoder) repeatsUnique(s sharedID) bool {
	return wire.IsUnique(s.id) && d.knownIDs.Contains(s.String())
}
