package wire

import (
	"hash/maphash"
	"maps"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// IsCallPiece reports whether a call of an ADK agent's model has only a piece of the arguments. The first piece has the tool's name, the
// others do not. Python's servers before 2.0, and JavaScript's, give each piece a new ID. The whole call follows.
//
// Source: google/adk/utils/streaming_utils.py of google-adk 1.38.
func IsCallPiece(call strictjson.Value) bool {
	return !hasName(call) || call.First("partialArgs", "partial_args").Exists() || MayBeTrue(call.First("willContinue", "will_continue"))
}

// CallRoleOf returns the role of a call of an ADK agent's model.
func CallRoleOf(call strictjson.Value) CallRole {
	if hasName(call) {
		return CallBegins
	}
	return CallContinues
}

func hasName(call strictjson.Value) bool { return len(lenient.Text(call.Get("name").Text())) > 0 }

// CallPlace is where an ADK agent's model responds. The zero value is no place.
type CallPlace struct {
	author, branch, path uint64 // hashes; branch and path are 0 if the frame does not state them
	isOfCode             bool   // where code runs
}

// noAuthor is the author of a frame that names none.
var noAuthor = NewCallPlace(strictjson.Value{}, strictjson.Value{}, strictjson.Value{}).author

// NewCallPlace returns the place of an agent's event.
func NewCallPlace(author, branch, path strictjson.Value) CallPlace {
	return CallPlace{author: maphash.Bytes(seed, author.Text()) | 1, branch: Hash(branch.String()), path: Hash(path.String())}
}

// mayBe reports whether two places may be the same. An event may lack its branch or path, and one with a result its author.
func (p CallPlace) mayBe(other CallPlace) bool {
	same := func(a, b uint64) bool { return a == b || a == 0 || b == 0 }
	isSameAuthor := p.author == other.author || p.isOfCode && (p.author == noAuthor || other.author == noAuthor)
	return p.isOfCode == other.isOfCode && isSameAuthor && same(p.branch, other.branch) && same(p.path, other.path)
}

// latestCalls maps a place to whether its latest named call, or its latest code, was shown or withheld. A piece without a name continues
// that call. There are at most MaxSet places.
type latestCalls map[CallPlace]latestCall

type latestCall uint8

const (
	callShown latestCall = iota
	callHidden
	pieceHidden // a piece of a withheld call, of which the whole has not come, or code without a result
)

// set records the latest call of a place.
func (l *latestCalls) set(place CallPlace, latest latestCall) {
	if place == (CallPlace{}) {
		return
	}
	if latest != callShown {
		maps.DeleteFunc(*l, func(other CallPlace, latest latestCall) bool { return latest == callShown && other.mayBe(place) })
	}
	if _, known := (*l)[place]; !known && len(*l) == MaxSet {
		return
	}
	if *l == nil {
		*l = make(latestCalls)
	}
	(*l)[place] = latest
}

// forgetShown forgets the calls that left: another call may have begun since at each place.
func (l latestCalls) forgetShown() {
	maps.DeleteFunc(l, func(_ CallPlace, latest latestCall) bool { return latest == callShown })
}

// mayHide reports whether the latest call of a place was withheld, or may have been. isMissed says that there may be calls that were
// not read.
func (l latestCalls) mayHide(place CallPlace, isMissed bool) bool {
	latest, known := l[place]
	if known {
		return latest != callShown
	}
	if isMissed || len(l) == MaxSet {
		return true
	}
	for other, latest := range l {
		if latest != callShown && other.mayBe(place) {
			return true
		}
	}
	return false
}

// hasOpenPiece reports whether the arguments of a withheld call were streamed and the whole call has not come, or withheld code has no
// result.
func (l latestCalls) hasOpenPiece() bool {
	for _, latest := range l {
		if latest == pieceHidden {
			return true
		}
	}
	return false
}
