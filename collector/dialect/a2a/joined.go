package a2a

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// joinedTexts remembers the whole texts of withheld messages and artifacts that came in several updates. It keeps the latest maxArtifacts.
type joinedTexts struct {
	keys  [maxArtifacts]contentKey
	texts [maxArtifacts]joinedText
	next  int // the oldest one
}

// joinedText holds hashes of a text so far, with and without thoughts.
type joinedText struct{ said, spoken wire.JoinedHash }

// add adds the texts of an update. isWhole says that they replace the earlier ones.
func (j *joinedTexts) add(id contentKey, isWhole bool, content *contentReader) {
	i := j.find(id)
	if i < 0 {
		i = j.next
		j.next = (j.next + 1) % maxArtifacts
		j.keys[i], isWhole = id, true
	}
	if isWhole {
		j.texts[i] = joinedText{}
	}
	j.texts[i].said.Add(content.said)
	j.texts[i].spoken.Add(content.spoken)
}

func (j *joinedTexts) find(id contentKey) int {
	for i, key := range j.keys {
		if key == id && key.kind != "" {
			return i
		}
	}
	return -1
}

func (j *joinedTexts) isEmpty() bool { return j.keys[0].kind == "" }

// have reports whether texts are one of the whole texts, and few other texts are equal to it.
func (j *joinedTexts) have(texts []strictjson.Value) bool {
	if j.isEmpty() {
		return false
	}
	sum, isTelling := wire.HashJoined(texts)
	for i := range j.texts {
		one := &j.texts[i]
		if isTelling && (one.said.Sum() == sum || one.spoken.Sum() == sum) {
			return true
		}
	}
	return false
}
