package agui

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// shapes tracks which objects of documents are messages, and which have an internal name. A JSON Patch may set the name of a message by
// one operation and its content by another, so an object is internal once both are known. The objects have their paths without the
// indices of elements.
type shapes struct {
	isWhole  bool // all of the document was seen; otherwise any object may be a message
	messages wire.Set[string]
	named    wire.Set[string]
	ids      placedIDs
	copied   int // entries of messages and named that the copies of the current patch were compared with
}

// maxCopied bounds shapes.copied. Further copies of a patch may copy anything.
const maxCopied = 256 * wire.MaxSet

// add adds the objects in a value that has a path, with the indices of elements and without. It appends to both.
func (s *shapes) add(v strictjson.Value, path, place []string, at position) {
	if at == inWords {
		return
	}
	if v.Kind() == strictjson.Object {
		isMessage := at == inList || isSigned(v)
		if isMessage || lenient.HasMember(v, contentMembers) {
			s.ids.add(v, shapeOf(path), shapeOf(place))
		}
		if isMessage {
			s.messages.Add(shapeOf(path))
		}
		if isInternalIn(v, true) {
			s.named.Add(shapeOf(path))
		}
	}
	for name, value := range v.Members() {
		s.add(value, appendToken(path, name.String()), append(place, name.String()), at.inside(name.Text()))
	}
	index := 0
	for element := range v.Elements() {
		s.add(element, path, append(place, strconv.Itoa(index)), at)
		index++
	}
}

// makesInternal reports whether a JSON Patch adds an internal message or may make an object one. All of the patch counts, in any order.
// root is the first token of each path in the document, if there is one. withhold gets the IDs of objects that become internal.
func (s *shapes) makesInternal(patch strictjson.Value, withhold func(k key, hasName bool), root ...string) (is bool) {
	s.copied = 0
	for op := range patch.Elements() {
		s.ids.isLoose = s.ids.isLoose || op.Get("op").Is("remove") && isElement(placeOf(root, op.Get("path")))
	}
	for c := range changesOf(patch, root) {
		s.addChange(&c)
	}
	places, shapes := make(map[string]bool), make(map[string]bool)
	for c := range changesOf(patch, root) {
		if s.isInternalChange(&c) {
			is = true
			c.addInternal(places, shapes)
		}
	}
	if is {
		s.ids.withhold(places, shapes, withhold)
	}
	return is || patchContains(patch, isInternalIn)
}

func (s *shapes) addChange(c *change) {
	if c.value.Exists() {
		s.ids.replace(c)
		s.add(c.value, slices.Clip(c.path), slices.Clip(c.place), positionOf(c.path))
	} else {
		s.copy(c)
	}
	if c.signs() {
		s.messages.Add(shapeOf(c.parent()))
	}
	if s.names(c) {
		for owner := range c.owners() {
			s.named.Add(owner)
		}
	}
}

func (s *shapes) isInternalChange(c *change) bool {
	above := prefixesOf(c.path)
	for i, token := range c.path {
		shape := above.upTo(i)
		if (isContent(token) || i == len(c.path)-1 && c.signs()) && s.named.MayContain(shape) && (!s.isWhole || s.messages.MayContain(shape)) {
			return true
		}
	}
	if !s.names(c) {
		return false
	}
	for owner := range c.owners() {
		if !s.isWhole || s.messages.MayContain(owner) {
			return true
		}
	}
	return slices.ContainsFunc(c.path, func(token string) bool { return lenient.MatchesAny([]byte(token), listMembers) })
}

// names reports whether a change makes an object internal that has content, as far as the patch shows it.
func (s *shapes) names(c *change) bool {
	member := []byte(c.member())
	if n := len(c.path); n > 1 && string(member) == "name" && lenient.MatchesAny([]byte(c.path[n-2]), conversationRule.PartMembers) {
		return false // a tool's
	}
	if !c.value.Exists() {
		return changePrefilter.MayMatch(member) && len(c.from) > 0 && s.named.MayContain(shapeOf(c.from[:len(c.from)-1]))
	}
	return mayMakeMessage(member, c.value, isInternalIn)
}

// copy adds what a copy or move brings to another place.
func (s *shapes) copy(c *change) {
	from, to := shapeOf(c.from), shapeOf(c.path)
	s.ids.copy(from, to)
	for _, set := range [...]*wire.Set[string]{&s.messages, &s.named} {
		if s.copied += set.Len(); s.copied > maxCopied {
			set.Fill()
			s.ids.isCut = true
		}
		if set.IsFull() {
			continue
		}
		var more []string
		for shape := range set.All() {
			if rest, is := below(shape, from); is {
				more = append(more, dialect.Name(to+rest))
			}
		}
		for _, shape := range more {
			set.Add(shape)
		}
	}
}

// below reports whether a shape or place is that of an outer one or of something in it, and returns the rest.
func below(shape, outer string) (rest string, is bool) {
	rest, is = strings.CutPrefix(shape, outer)
	return rest, is && (rest == "" || rest[0] == '/')
}

// shapeOf returns a path as a text.
func shapeOf(path []string) string { return prefixesOf(path).whole }

// prefixes are the beginnings of a path as texts, which all have the whole one as their beginning.
type prefixes struct {
	whole string
	ends  []int // of the tokens of the path that fit in whole
}

func prefixesOf(path []string) (p prefixes) {
	var text strings.Builder
	for _, token := range path {
		if text.Len() > dialect.MaxName {
			break
		}
		text.WriteByte('/')
		text.WriteString(token)
		p.ends = append(p.ends, text.Len())
	}
	p.whole = dialect.Name(text.String())
	return p
}

// upTo returns the shape of the first tokens of the path.
func (p *prefixes) upTo(tokens int) string {
	switch {
	case tokens == 0:
		return ""
	case tokens > len(p.ends):
		return p.whole
	}
	return p.whole[:min(p.ends[tokens-1], len(p.whole))]
}

// change is an operation of a JSON Patch (RFC 6902) other than a removal.
type change struct {
	path, from []string         // without the indices of elements
	place      []string         // path with them
	adds       bool             // it may insert an element
	replaces   bool             // it may remove what was at its place
	value      strictjson.Value // does not exist in a copy or move
}

// changesOf yields the changes of a JSON Patch. Their paths start with those tokens of root.
func changesOf(patch strictjson.Value, root []string) iter.Seq[change] {
	return func(yield func(change) bool) {
		for op := range patch.Elements() {
			kind, path := op.Get("op"), op.Get("path")
			c := change{appendPointer(root, path), appendPointer(root, op.Get("from")), placeOf(root, path), kind.Is("add"), kind.Is("add") || kind.Is("replace"), op.Get("value")}
			if !kind.Is("remove") && !yield(c) {
				return
			}
		}
	}
}

// appendPointer appends the tokens of a JSON pointer (RFC 6901) to a path.
func appendPointer(path []string, pointer strictjson.Value) []string {
	path = slices.Clip(path)
	for token := range strings.SplitSeq(pointer.String(), "/") {
		path = appendToken(path, unescape.Replace(token))
	}
	return path
}

// placeOf is appendPointer with the indices of elements. The empty pointer is that of the whole document.
func placeOf(root []string, pointer strictjson.Value) []string {
	place := slices.Clip(root)
	if pointer.Is("") {
		return place
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer.String(), "/"), "/") {
		place = append(place, unescape.Replace(token))
	}
	return place
}

// appendToken appends the name of a member to a path. It leaves out what may be the index of an element.
func appendToken(path []string, token string) []string {
	if token == "-" || strings.Trim(token, "0123456789") == "" {
		return path
	}
	return append(path, token)
}

// member returns the innermost member that is changed, or "".
func (c *change) member() string {
	if len(c.path) == 0 {
		return ""
	}
	return c.path[len(c.path)-1]
}

// signs reports whether the change makes an object a message.
func (c *change) signs() bool {
	member := []byte(c.member())
	return lenient.MatchesAny(member, signs) || string(member) == "type" && (!c.value.Exists() || lenient.MatchesAny(c.value.Text(), messageTypes))
}

// parent returns the path of the object that has the member.
func (c *change) parent() []string { return c.path[:max(len(c.path)-1, 0)] }

// owners yields the shapes of the objects that the member may make internal: its object and, if that is a part of a message, the message.
func (c *change) owners() iter.Seq[string] {
	return func(yield func(string) bool) {
		above := prefixesOf(c.path)
		for n := len(c.parent()); yield(above.upTo(n)) && n > 0 && lenient.MatchesAny([]byte(c.path[n-1]), partMembers); {
			n--
		}
	}
}

// positionOf returns the position of what has a path.
func positionOf(path []string) (at position) {
	for _, token := range path {
		at = at.inside([]byte(token))
	}
	return at
}

// patchContains reports whether a value in a JSON Patch has a message of a kind.
func patchContains(patch strictjson.Value, isOne func(v strictjson.Value, listed bool) bool) bool {
	contains := func(v strictjson.Value, at position) bool {
		return !yieldMessages(v, at, isOne, func(_, _ strictjson.Value) bool { return false })
	}
	if patch.Kind() != strictjson.Array {
		return contains(patch, anywhere)
	}
	for op := range patch.Elements() {
		value := op.Get("value")
		if contains(value, positionOf(appendPointer(nil, op.Get("path")))) {
			return true
		}
		for _, other := range op.Members() {
			if other != value && contains(other, anywhere) {
				return true
			}
		}
	}
	return false
}

// partMembers hold parts of a message that may make it internal.
var partMembers = slices.Concat(table.Envelopes, conversationRule.PartMembers)

func isContent(token string) bool { return lenient.MatchesAny([]byte(token), contentMembers) }
