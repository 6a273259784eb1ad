package jetstream

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/nats-io/nats.go"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// prefix starts every subject. The source and the session follow as one token each.
const prefix = "delegraph.v1."

// The headers of a message. Names from agents' streams are percent-encoded, because headers cannot
// hold every byte.
const (
	previousHeader  = "Delegraph-Previous" // a reader that has read this number, or a higher one, misses no earlier message of the subject
	aloneHeader     = "Delegraph-Alone"    // the subject held no message, so the previous one is unknown
	lostHeader      = "Delegraph-Lost"     // number of frames dropped right before this one
	sourceHeader    = "Delegraph-Source"
	sessionHeader   = "Delegraph-Session"
	runHeader       = "Delegraph-Run"
	kindsHeader     = "Delegraph-Kinds"
	nameHeader      = "Delegraph-Event"
	dialectHeader   = "Delegraph-Dialect"
	nonceHeader     = "Delegraph-Stream"
	singleRunHeader = "Delegraph-Answer"
	endHeader       = "Delegraph-Over"
	firstHeader     = "Delegraph-First" // the first published frame of the agent's stream
)

// maxReadableToken is the longest name, in bytes, that is not hashed in a subject.
const maxReadableToken = 256

// subjectToken returns a name as one token of a subject.
func subjectToken(name string) string {
	switch {
	case name == "":
		return "_"
	case len(name) > maxReadableToken:
		sum := sha256.Sum256([]byte(name))
		return "~" + base64.RawURLEncoding.EncodeToString(sum[:]) // base64 has no ~
	}
	return base64.RawURLEncoding.EncodeToString([]byte(name))
}

func subjectOf(source, session string) string {
	return prefix + subjectToken(source) + "." + subjectToken(session)
}

// sessionSubjects matches every subject of a session.
func sessionSubjects(session string) string { return prefix + "*." + subjectToken(session) }

// ends lists the names of stream ends in messages. They must not change.
var ends = map[event.End]string{
	event.EndOfStream: "closed", event.EndClientLeft: "client_left", event.EndShutdown: "stopped",
	event.EndUnobserved: "unobserved", event.EndBroken: "broken_off", event.EndUnfinished: "unfinished",
}

var endsByName = func() map[string]event.End {
	byName := map[string]event.End{}
	for end, name := range ends {
		byName[name] = end
	}
	return byName
}()

// encode returns the message of an entry, without the headers that depend on earlier messages.
func encode(e *replay.Entry, id string) *nats.Msg {
	header := nats.Header{nats.MsgIdHdr: {id}, sourceHeader: {url.QueryEscape(e.Source)}}
	set := func(name, value string) {
		if value != "" {
			header[name] = []string{url.QueryEscape(value)}
		}
	}
	set(sessionHeader, e.Session)
	set(runHeader, e.Run)
	set(nameHeader, e.Name)
	if e.Stream != nil {
		set(dialectHeader, e.Stream.Dialect)
		set(nonceHeader, e.Stream.Nonce)
		if e.Stream.SingleRun {
			set(singleRunHeader, "1")
		}
	}
	if e.Ordinal == 1 {
		set(firstHeader, "1")
	}
	if e.StreamEnded {
		set(endHeader, ends[e.End])
	}
	if e.Kinds != 0 {
		header[kindsHeader] = []string{kindNames(e.Kinds)}
	}
	return &nats.Msg{Subject: subjectOf(e.Source, e.Session), Header: header, Data: slices.Clone(e.Data)}
}

// kindNames returns the names of kinds, because their numbers may differ between versions.
func kindNames(kinds replay.Kinds) string {
	var names []byte
	for _, k := range event.Kinds() {
		if kinds&replay.KindsOf(k) != 0 {
			names = append(append(names, ','), k.String()...)
		}
	}
	return string(names[1:])
}

var errForeign = errors.New("not a message of Delegraph")

// decoded is a decoded message.
type decoded struct {
	entry    replay.Entry
	previous uint64
	alone    bool
	lost     bool
}

// decode decodes a message. It rejects one whose headers do not match its subject.
func (r *streamRegistry) decode(subject string, header nats.Header, data []byte) (decoded, error) {
	var malformed error
	value := func(name string) string {
		values := header[name]
		if len(values) == 0 {
			return ""
		}
		plain, err := url.QueryUnescape(values[0])
		if err != nil {
			malformed = errForeign
		}
		return plain
	}
	d := decoded{entry: replay.Entry{
		Source: value(sourceHeader), Session: value(sessionHeader), Run: value(runHeader), Name: value(nameHeader), Data: data,
	}}
	if subjectOf(d.entry.Source, d.entry.Session) != subject {
		return decoded{}, errForeign
	}
	for name := range strings.SplitSeq(value(kindsHeader), ",") {
		if k, known := event.ParseKind(name); known {
			d.entry.Kinds |= replay.KindsOf(k)
		}
	}
	if dialect := value(dialectHeader); dialect != "" {
		d.entry.Stream = r.stream(streamKey{
			source: d.entry.Source, session: d.entry.Session,
			Stream: replay.Stream{Dialect: dialect, SingleRun: value(singleRunHeader) != "", Nonce: value(nonceHeader)},
		})
	}
	if end := value(endHeader); end != "" {
		d.entry.StreamEnded, d.entry.End = true, endsByName[end]
	}
	if value(firstHeader) != "" {
		d.entry.Ordinal = 1
	}
	d.alone, d.lost = value(aloneHeader) != "", value(lostHeader) != ""
	previous, err := strconv.ParseUint(value(previousHeader), 10, 64)
	if err != nil || malformed != nil || d.entry.StreamEnded && d.entry.Stream == nil {
		return decoded{}, errForeign
	}
	d.previous = previous
	return d, nil
}

// streamKey identifies an agent's stream. A stream that several sidecars read has no nonce. Readers see it as one
// stream for each source and session, whichever sidecar published a frame.
type streamKey struct {
	source, session string
	replay.Stream
}

// streamRegistry returns the same replay.Stream for all messages of an agent's stream.
type streamRegistry struct {
	streams *lru.Cache[streamKey, *replay.Stream]
}

func (r *streamRegistry) stream(key streamKey) *replay.Stream {
	if key.Nonce != "" {
		key.source, key.session = "", "" // these may only become known later in the stream
	}
	if s, ok := r.streams.Get(key); ok {
		return s
	}
	s := key.Stream
	if before, ok, _ := r.streams.PeekOrAdd(key, &s); ok {
		return before
	}
	return &s
}
