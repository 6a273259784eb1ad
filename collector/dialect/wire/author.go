package wire

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

const (
	maxAuthors = 8 // of one text

	// UnknownAuthor is an author that no setting can list.
	UnknownAuthor = ""
)

// AddAuthor adds an author to those of a text. Of more than eight, the others count as UnknownAuthor.
func AddAuthor(known []string, name string) []string {
	if len(known) >= maxAuthors {
		name = UnknownAuthor
	}
	if slices.Contains(known, name) {
		return known
	}
	return append(known, name)
}

// Authors remembers who wrote each of at most MaxSet texts. The zero value is empty.
type Authors[K comparable] struct {
	names map[K][]string
	full  bool // there were more texts
}

// Add adds authors of a text, unless there are too many texts.
func (a *Authors[K]) Add(text K, names ...string) {
	known, is := a.names[text]
	switch {
	case len(names) == 0:
		return
	case !is && len(a.names) >= MaxSet:
		a.full = true
		return
	case a.names == nil:
		a.names = make(map[K][]string)
	}
	for _, name := range names {
		known = AddAuthor(known, name)
	}
	a.names[text] = known
}

// Of returns the known authors of a text. If there were too many texts, that of any other is UnknownAuthor.
func (a *Authors[K]) Of(text K) []string {
	if known, is := a.names[text]; is || !a.full {
		return known
	}
	return []string{UnknownAuthor}
}

// Remove forgets the authors of a text.
func (a *Authors[K]) Remove(text K) { delete(a.names, text) }

// AuthorMember is a member in which objects name their author.
type AuthorMember struct {
	names     []string
	prefilter *lenient.Prefilter
}

// NewAuthorMember returns the member with a name.
func NewAuthorMember(name string) AuthorMember {
	names := []string{name}
	return AuthorMember{names, lenient.NewPrefilter(&event.Table{Labels: names})}
}

// Of returns the author that an object names itself, in any spelling of the member.
func (a AuthorMember) Of(object strictjson.Value, cache *NameCache) (authors []string) {
	for name, value := range object.Members() {
		text := name.Text()
		if !a.prefilter.MayMatch(text) || !lenient.MatchesAny(text, a.names) || value.Kind() <= strictjson.Null || value.Is("") {
			continue
		}
		authors = append(authors, cache.Name(value)) // of no string: UnknownAuthor
	}
	return authors
}
