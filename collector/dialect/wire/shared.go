package wire

import (
	"bytes"
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
)

// SharedSet is a Set of IDs that streams of an agent share. The zero value is an empty set that shares nothing.
type SharedSet struct {
	own    Set[string]     // of this stream
	memory *event.Withheld // of all streams of the agent; nil if they share nothing
	kind   string
	scopes []string          // see SetScopes
	cached map[uint64]answer // answers of the memory; this stream asks it only once for most IDs
}

// answer says whether the memory contained an ID at a revision.
type answer struct {
	contains bool
	revision uint64
}

// NewSharedSet returns a set that uses the memory of a stream's agent. Sets share IDs only with sets of the same kind.
func NewSharedSet(s *event.Stream, kind string) SharedSet {
	return SharedSet{memory: s.Withheld, kind: kind}
}

// SetScopes sets the scopes of IDs without a UUID, such as the session and the run. It ignores empty scopes. An ID is added
// to the first scope and found in each. An ID with a UUID needs no scope: it is the same everywhere.
func (s *SharedSet) SetScopes(scopes ...string) {
	s.scopes = s.scopes[:0]
	for _, scope := range scopes {
		if scope != "" {
			s.scopes = append(s.scopes, scope)
		}
	}
}

// Add adds an ID for all streams. An ID that the memory has does not count toward this stream's limit.
func (s *SharedSet) Add(id string) {
	if s.IsShared(id) {
		return
	}
	s.own.Add(id)
	if scopes := s.scopesOf(id); s.memory != nil && len(scopes) > 0 {
		key := s.key(scopes[0], id)
		s.memory.Add(key)
		s.cache(key, answer{contains: true})
	}
}

// AddOwn adds an ID for this stream only.
func (s *SharedSet) AddOwn(id string) {
	if !s.IsShared(id) {
		s.own.Add(id)
	}
}

// Remove removes an ID from this stream and from the memory. Another stream that has already found it keeps it.
func (s *SharedSet) Remove(id string) {
	s.own.Remove(id)
	for _, scope := range s.scopesOf(id) {
		key := s.key(scope, id)
		s.memory.Remove(key)
		s.cache(key, answer{revision: s.memory.Revision()})
	}
}

// Contains reports whether an ID was added, on this stream or another.
func (s *SharedSet) Contains(id string) bool { return s.own.Contains(id) || s.IsShared(id) }

// MayContain reports whether an ID was added or this stream's part of the set is full.
func (s *SharedSet) MayContain(id string) bool { return s.own.MayContain(id) || s.IsShared(id) }

// TakeOver replaces this stream's part of the set by that of an earlier stream, which must not use it anymore.
func (s *SharedSet) TakeOver(earlier *SharedSet) { s.own = earlier.own }

// Len returns the number of IDs in this stream's part of the set.
func (s *SharedSet) Len() int { return s.own.Len() }

// IsFull reports whether this stream's part of the set takes no more IDs.
func (s *SharedSet) IsFull() bool { return s.own.IsFull() }

// IsEmpty reports whether no ID was added, on this stream or another.
func (s *SharedSet) IsEmpty() bool { return s.own.Len() == 0 && s.memory.IsEmpty() }

// IsShared reports whether the memory has an ID.
func (s *SharedSet) IsShared(id string) bool {
	if s.memory.IsEmpty() {
		return false
	}
	for _, scope := range s.scopesOf(id) {
		key, revision := s.key(scope, id), s.memory.Revision()
		known, cached := s.cached[key]
		if !cached || !known.contains && known.revision != revision {
			known = answer{s.memory.Contains(key), revision}
			s.cache(key, known)
		}
		if known.contains {
			return true
		}
	}
	return false
}

// cache keeps an answer of the memory. When it holds MaxSet answers, it first forgets all of them.
func (s *SharedSet) cache(key uint64, known answer) {
	if s.cached == nil || len(s.cached) >= MaxSet {
		s.cached = make(map[uint64]answer)
	}
	s.cached[key] = known
}

// anywhere is the scope of an ID with a UUID.
var anywhere = []string{""}

func (s *SharedSet) scopesOf(id string) []string {
	if IsUnique(id) {
		return anywhere
	}
	return s.scopes
}

func (s *SharedSet) key(scope, id string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, text := range []string{s.kind, scope} {
		_, _ = h.WriteString(text)
		_ = h.WriteByte(0)
	}
	_, _ = h.WriteString(id)
	return h.Sum64()
}

// uuidForm is the form of a UUID: x stands for a hexadecimal digit.
const uuidForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

// uuidDigits is the number of digits of a UUID. A longer number without dashes, as in the IDs of OpenAI, is just as unique.
const uuidDigits = 32

// IsUnique reports whether an ID is the same everywhere: it contains a UUID, such as run-UUID-0, or as many hexadecimal digits in a row.
func IsUnique(id string) bool {
	digits := 0
	for i := range len(id) {
		if digits++; !isHex(id[i]) {
			digits = 0
		}
		if digits >= uuidDigits || startsWithUUID(id[i:]) {
			return true
		}
	}
	return false
}

func startsWithUUID(id string) bool {
	if len(id) < len(uuidForm) {
		return false
	}
	for i := range len(uuidForm) {
		if uuidForm[i] == '-' && id[i] != '-' || uuidForm[i] == 'x' && !isHex(id[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// MayHideInternal reports whether a frame that cannot be read may be internal, or name something that is. An escape may hide the word.
func MayHideInternal(f dialect.Frame) bool {
	return f.Malformed == event.ReasonTooLarge || bytes.Contains(f.Data, []byte(`\u`)) || bytes.Contains(lenient.Text(f.Data), []byte("internal"))
}
