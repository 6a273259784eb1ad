package proof

import (
	"slices"
	"strings"
	"unicode"
)

var (
	answerWords   = setOf("answers")
	places        = setOf("places")
	beginnings    = setOf("places", "times")
	groupWords    = words("groups")
	firstPerson   = setOf("first person")
	illustrations = words("illustrations")
	statistics    = words("statistics")

	// conditional matches the text before a statement that is hypothetical, asked or reported.
	conditional = lazily(`(?:^|[ "(])(?:if|when|whenever|unless|until|suppose|once|whether|says?|said|that|wenn|falls|si|se|als|cuando|quando) [^.;!?]*$`)
	// reported matches the text after a statement that another person makes.
	reported = lazily(`^[^.!?]*\b(?:he|she|they) (?:said|says|wrote|added|told)\b`)
	// choices matches the rest of a list of levels to choose from.
	choices = lazily(`^ ?[,|/] ?(?:or |and )?(?:high|medium|moderate|low)\b`)
)

// isOwn reports whether the answer makes a statement about itself. German Sicherheit also means safety, so
// it is a label only before a number. In a text about samples, a confidence level is a statistical term.
// Examples, conditions, choices and code state nothing.
func (r *reader) isOwn(f shapeMatch, l *line, first statement, rest []byte) bool {
	label, behind := l.lower[f.start:f.from], l.lower[f.from+first.size:]
	behind = behind[:runeStart(behind, min(len(behind), valueWindow))]
	before := l.lower[runeStart(l.lower, max(0, f.start-shapeWindow)):f.start]
	switch {
	case isAboutPlace(before, f.start > shapeWindow) && !isFirstPerson(label),
		f.reading == "whole" && strings.TrimLeft(behind, " .!") != "",
		strings.Contains(label, "sicherheit") && !first.value.Known,
		containsAny(label, "level", "niveau", "nivel") && (l.isStatistical() || isStatistical(r.context(rest))):
		return false
	case f.label:
		return !isIllustrated(before) && !isCode(l, f, first) && (!first.inWords || first.value.Known || first.hasScope() || !choices().MatchString(behind))
	}
	return !conditional().MatchString(before) && !reported().MatchString(l.lower[f.from:min(len(l.lower), f.from+shapeWindow)])
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}

func isStatistical(lower string) bool { return containsAny(lower, statistics...) }

func isFirstPerson(lower string) bool {
	for word := range strings.FieldsFuncSeq(lower, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if firstPerson[word] {
			return true
		}
	}
	return false
}

// isIllustrated reports whether the text before a label introduces an example or a report.
func isIllustrated(before string) bool {
	before = strings.TrimRight(before, " :,：，([\"'")
	return slices.ContainsFunc(illustrations, func(word string) bool { return strings.HasSuffix(before, word) })
}

// isAboutPlace reports whether a sentence begins with a place, a group, a time or an authority, as in
// "In the EU, confidence: 40%". before is the text before the label, and cut reports whether the line has
// more text before that.
func isAboutPlace(before string, cut bool) bool {
	sentence := strings.TrimRight(before, " ,;–—")
	if end := strings.LastIndexAny(sentence, ",;:.!?"); end >= 0 {
		if strings.IndexByte(".!?", sentence[end]) < 0 {
			return false
		}
		sentence, cut = sentence[end+1:], false
	}
	return !cut && beginsWithPlace(strings.TrimLeft(sentence, " -*•"), beginnings)
}

// beginsWithPlace reports whether a text begins with one of the prepositions, and the next two words
// do not refer to the answer.
func beginsWithPlace(text string, prepositions wordSet) bool {
	word, rest := nextWord(text)
	if !prepositions[word] {
		return false
	}
	for range 2 {
		if word, rest = nextWord(rest); answerWords[word] {
			return false
		}
	}
	return true
}

// isAboutOthers reports whether the text after a value names other people or a place: "in Germany",
// "among voters", "(German voters)".
func isAboutOthers(behind string) bool {
	behind = strings.TrimLeft(behind, " ")
	if strings.HasPrefix(behind, "(") || strings.HasPrefix(behind, "（") {
		inside, _, _ := strings.Cut(strings.Replace(behind, "）", ")", 1), ")")
		return containsAny(inside, groupWords...)
	}
	return beginsWithPlace(behind, places)
}

// isCode reports whether a label with an equals sign is an assignment in a program: it is indented, or
// more code follows the value.
func isCode(l *line, f shapeMatch, first statement) bool {
	if !strings.HasSuffix(strings.TrimRight(l.lower[f.start:f.from], " "), "=") {
		return false
	}
	rest := strings.TrimLeft(l.lower[f.from+first.size:], " ")
	return strings.HasPrefix(l.raw, "    ") || rest == ";" || rest != "" && (inWord(rest[0]) || strings.IndexByte("./&", rest[0]) >= 0 && len(rest) > 1)
}

// context returns the line before and the next two lines in lower case.
func (r *reader) context(rest []byte) string {
	first, rest := cutLine(rest)
	second, _ := cutLine(rest)
	var b strings.Builder
	for _, line := range [][]byte{r.previous, first, second} {
		b.Write(line[:min(len(line), valueWindow)])
		b.WriteByte('\n')
	}
	return strings.ToLower(b.String())
}
