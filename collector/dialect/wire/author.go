package wire

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

const (
	maxAuthors = 8 // per text

	// UnknownAuthor is an author that no setting can list.
	UnknownAuthor = ""
)

// AddAuthor returns the authors of a text with another one added. Beyond the limit it adds UnknownAuthor instead.
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
	full  bool // a text was ignored
}

// Add adds authors of a text. It ignores a new text beyond the limit.
func (a *Authors[K]) Add(text K, names ...string) {
	known, isKnown := a.names[text]
	switch {
	case len(names) == 0:
		return
	case !isKnown && len(a.names) >= MaxSet:
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

// Of returns the authors of a text. If Add has ignored a text, the author of any unknown text is UnknownAuthor.
func (a *Authors[K]) Of(text K) []string {
	if known, isKnown := a.names[text]; isKnown || !a.full {
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

// Of returns the authors that an object names in the member, in any spelling of the member's name.
func (a AuthorMember) Of(object strictjson.Value, cache *NameCache) (authors []string) {
	for name, value := range object.Members() {
		text := name.Text()
		if !a.prefilter.MayMatch(text) || !lenient.MatchesAny(text, a.names) || value.Kind() <= strictjson.Null || value.Is("") {
			continue
		}
		authors = append(authors, cache.Name(value)) // UnknownAuthor if value is not a string
	}
	return authors
}
