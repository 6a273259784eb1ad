package agui

import (
	"slices"
	"strings"

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

func (p *placedIDs) add(v strictjson.Value, path, place []string) {
	for name, value := range v.Members() {
		switch {
		case lenient.MatchesAny(name.Text(), ownIDs):
			p.put(placedID{shapeOf(place), shapeOf(path), messageKey(dialect.Name(value.String()))})
		case lenient.MatchesAny(name.Text(), callLists):
			for call := range value.Elements() {
				p.put(placedID{shapeOf(place), shapeOf(path), key{entity: entityCall, id: dialect.Name(call.Get("id").String())}})
			}
		}
	}
}

// replace removes the IDs of what a change replaces, and adds the ID that it sets.
func (p *placedIDs) replace(c *change) {
	name := c.place[len(c.place)-1]
	at := shapeOf(c.place)
	isBelow := func(one placedID) bool { return one.place == at || strings.HasPrefix(one.place, at+"/") }
	switch {
	case name == "-", isElement(c.place) && c.adds && slices.ContainsFunc(p.all, isBelow):
		p.isLoose = true
	default:
		p.all = slices.DeleteFunc(p.all, isBelow)
	}
	if lenient.MatchesAny([]byte(name), ownIDs) {
		p.put(placedID{shapeOf(c.place[:len(c.place)-1]), shapeOf(c.parent()), messageKey(dialect.Name(c.value.String()))})
	}
}

// copy adds what a copy or move brings to another place.
func (p *placedIDs) copy(c *change) {
	p.isLoose = true
	for _, one := range slices.Clone(p.all) {
		if to, is := c.moved(one.shape); is {
			p.put(placedID{"", to, one.key})
		}
	}
}

// withhold calls withhold for the IDs of the object that a change makes internal: its own object, and the message that this is a part of.
// If elements may have other places, all objects count that differ only in the indices. If not all IDs are held, withhold also gets the
// zero key.
func (p *placedIDs) withhold(c *change, withhold func(k key, hasName bool)) {
	if p.isCut {
		withhold(key{}, true)
	}
	for at := c.place; len(at) > 0; {
		at = at[:len(at)-1]
		place, shape := shapeOf(at), shapeOf(withoutIndices(at))
		for _, one := range p.all {
			if one.place == place || p.isLoose && one.shape == shape {
				withhold(one.key, true)
			}
		}
		if n := len(at); n == 0 || !isElement(at) && !lenient.MatchesAny([]byte(at[n-1]), partMembers) {
			return
		}
	}
}

// isElement reports whether a place may be that of an element of a list.
func isElement(place []string) bool {
	return len(place) > 0 && len(appendToken(nil, place[len(place)-1])) == 0
}

func withoutIndices(place []string) (path []string) {
	for _, token := range place {
		path = appendToken(path, token)
	}
	return path
}
