package agui

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// placedIDs holds the IDs of the objects in documents, and of the calls in them: a JSON Patch may make an object internal without its ID.
type placedIDs struct {
	all     []placedID // at most wire.MaxSet
	isLoose bool       // elements may have other places than those in all
	isCut   bool       // there were more
}

type placedID struct {
	place, shape string // with the indices of elements and without
	key          key
}

func (p *placedIDs) put(one placedID) {
	switch {
	case one.key.id == "":
	case len(p.all) < wire.MaxSet:
		p.all = append(p.all, one)
	default:
		p.isCut = true
	}
}

// add adds the IDs of an object and of the calls in it.
func (p *placedIDs) add(v strictjson.Value, shape, place string) {
	for name, value := range v.Members() {
		switch {
		case lenient.MatchesAny(name.Text(), ownIDs):
			p.put(placedID{place, shape, messageKey(dialect.Name(value.String()))})
		case lenient.MatchesAny(name.Text(), callLists):
			for call := range value.Elements() {
				p.put(placedID{place, shape, key{entity: entityCall, id: dialect.Name(call.Get("id").String())}})
			}
		}
	}
}

// replace removes the IDs of what a change replaces, and adds the ID that it sets.
func (p *placedIDs) replace(c *change) {
	places, name := prefixesOf(c.place), c.name()
	isBelow := func(one placedID) bool { _, is := below(one.place, places.whole); return is }
	switch {
	case name == "-", isElement(c.place) && c.adds && slices.ContainsFunc(p.all, isBelow):
		p.isLoose = true
	case c.replaces:
		p.all = slices.DeleteFunc(p.all, isBelow)
	}
	if lenient.MatchesAny([]byte(name), ownIDs) {
		p.put(placedID{places.upTo(len(c.place) - 1), shapeOf(c.parent()), messageKey(dialect.Name(c.value.String()))})
	}
}

// copy adds what a copy or move brings from one shape to another.
func (p *placedIDs) copy(from, to string) {
	p.isLoose = true
	for i, n := 0, len(p.all); i < n && !p.isCut; i++ {
		if rest, is := below(p.all[i].shape, from); is {
			p.put(placedID{"", dialect.Name(to + rest), p.all[i].key})
		}
	}
}

// withhold calls withhold for the IDs of the objects that a patch makes internal (see addInternal). If elements may have other places, all
// objects count that differ only in the indices. If not all IDs are held, withhold also gets the zero key.
func (p *placedIDs) withhold(places, shapes map[string]bool, withhold func(k key, hasName bool)) {
	if p.isCut {
		withhold(key{}, true)
	}
	for _, one := range p.all {
		if places[one.place] || p.isLoose && shapes[one.shape] {
			withhold(one.key, true)
		}
	}
}

// addInternal adds the places and shapes of the object that a change makes internal, and of the message that this is a part of.
func (c *change) addInternal(places, shapes map[string]bool) {
	inPlace, inPath := prefixesOf(c.place), prefixesOf(c.path)
	tokens := len(c.path) // of those at the place
	for n := len(c.place); n > 0; {
		if !isElement(c.place[:n]) {
			tokens--
		}
		n--
		places[inPlace.upTo(n)], shapes[inPath.upTo(max(tokens, 0))] = true, true
		if n == 0 || !isElement(c.place[:n]) && !lenient.MatchesAny([]byte(c.place[n-1]), partMembers) {
			return
		}
	}
}

// name returns the last token of the place, or "" for that of the whole document.
func (c *change) name() string {
	if len(c.place) == 0 {
		return ""
	}
	return c.place[len(c.place)-1]
}

// isElement reports whether a place may be that of an element of a list.
func isElement(place []string) bool {
	return len(place) > 0 && len(appendToken(nil, place[len(place)-1])) == 0
}
