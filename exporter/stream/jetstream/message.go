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

// prefix begins every subject; the source and the session follow, a token each.
const prefix = "delegraph.v1."

// The headers of a message. Names out of agents' streams are percent-encoded: a header has no place for every byte.
const (
	previousHeader = "Delegraph-Previous" // the number that whoever has everything before the message on its subject has at least
	aloneHeader    = "Delegraph-Alone"    // nothing was held of the subject, so that it is not known which was the one before
	lostHeader     = "Delegraph-Lost"     // how many frames before it never came here
	sourceHeader   = "Delegraph-Source"
	sessionHeader  = "Delegraph-Session"
	runHeader      = "Delegraph-Run"
	kindsHeader    = "Delegraph-Kinds"
	nameHeader     = "Delegraph-Event"
	dialectHeader  = "Delegraph-Dialect"
	nonceHeader    = "Delegraph-Stream"
	answerHeader   = "Delegraph-Answer"
	overHeader     = "Delegraph-Over"
)

// maxToken is how long a name may be that is readable in a subject.
const maxToken = 256

// token is a name as one token of a subject.
func token(name string) string {
	switch {
	case name == "":
		return "_"
	case len(name) > maxToken:
		sum := sha256.Sum256([]byte(name))
		return "~" + base64.RawURLEncoding.EncodeToString(sum[:]) // base64 has no ~
	}
	return base64.RawURLEncoding.EncodeToString([]byte(name))
}

func subjectOf(source, session string) string { return prefix + token(source) + "." + token(session) }

// ofSession is every subject of a session's.
func ofSession(session string) string { return prefix + "*." + token(session) }

// The ways that a stream ends, in words that last.
var ends = map[event.End]string{
	event.EndOfStream: "closed", event.EndClientLeft: "client_left", event.EndShutdown: "stopped",
	event.EndUnobserved: "unobserved", event.EndBroken: "broken_off",
}

var endsByName = func() map[string]event.End {
	byName := map[string]event.End{}
	for end, name := range ends {
		byName[name] = end
	}
	return byName
}()

// encode makes a message of an entry, without what follows from those before it.
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
		if e.Stream.Answer {
			set(answerHeader, "1")
		}
	}
	if e.Over {
		set(overHeader, ends[e.End])
	}
	if e.Kinds != 0 {
		header[kindsHeader] = []string{kindNames(e.Kinds)}
	}
	return &nats.Msg{Subject: subjectOf(e.Source, e.Session), Header: header, Data: slices.Clone(e.Data)}
}

// kindNames are the names of kinds, since their numbers may differ in another version.
func kindNames(kinds replay.Kinds) string {
	var names []byte
	for _, k := range event.Kinds() {
		if kinds&replay.KindsOf(k) != 0 {
			names = append(append(names, ','), k.String()...)
		}
	}
	return string(names[1:])
}

var kindsByName = func() map[string]replay.Kinds {
	byName := map[string]replay.Kinds{}
	for _, k := range event.Kinds() {
		byName[k.String()] = replay.KindsOf(k)
	}
	return byName
}()

var errForeign = errors.New("no message of Delegraph's")

// decoded is a message as it came.
type decoded struct {
	entry    replay.Entry
	previous uint64
	alone    bool
	lost     bool
}

// decode reads a message, which has to say that it is of the session in its subject.
func (k *known) decode(subject string, header nats.Header, data []byte) (decoded, error) {
	var bad error
	value := func(name string) string {
		values := header[name]
		if len(values) == 0 {
			return ""
		}
		plain, err := url.QueryUnescape(values[0])
		if err != nil {
			bad = errForeign
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
		d.entry.Kinds |= kindsByName[name]
	}
	if dialect := value(dialectHeader); dialect != "" {
		d.entry.Stream = k.stream(streamKey{
			source: d.entry.Source, session: d.entry.Session,
			Stream: replay.Stream{Dialect: dialect, Answer: value(answerHeader) != "", Nonce: value(nonceHeader)},
		})
	}
	if over := value(overHeader); over != "" {
		d.entry.Over, d.entry.End = true, endsByName[over]
	}
	d.alone, d.lost = value(aloneHeader) != "", value(lostHeader) != ""
	previous, err := strconv.ParseUint(value(previousHeader), 10, 64)
	if err != nil || bad != nil || d.entry.Over && d.entry.Stream == nil {
		return decoded{}, errForeign
	}
	d.previous = previous
	return d, nil
}

// streamKey tells agents' streams apart. Those that several hear have no nonce: to readers they are one for each source and session,
// whoever published which frame of them.
type streamKey struct {
	source, session string
	replay.Stream
}

// known are the agents' streams that messages are of.
type known struct {
	streams *lru.Cache[streamKey, *replay.Stream]
}

func (k *known) stream(key streamKey) *replay.Stream {
	if key.Nonce != "" {
		key.source, key.session = "", "" // which may come to be known in its course
	}
	if s, ok := k.streams.Get(key); ok {
		return s
	}
	s := key.Stream
	if before, ok, _ := k.streams.PeekOrAdd(key, &s); ok {
		return before
	}
	return &s
}
