package proof

import (
	"slices"
	"strings"
	"unicode"

	"github.com/delegraph/delegraph/collector/event"
)

// region is a part of a raw line that may name a source: the rationale after a confidence, or the text
// after a source label.
type region struct {
	start     int // of the statement or the label
	from, end int // of the source; from is -1 if there is none
	labeled   bool
}

var (
	sourceWords = lazily(`^(?:source(?:\(s\)|s)?|references|regulatory basis)[ *_]*([:：|])[*_]*`)
	// sourceHeading matches a heading above a list of sources.
	sourceHeading = lazily(`^[ >]*(#+ *|\*+|_+)?(?:[0-9]{1,2}[.)] *)?[*_]*(?:key |data |main |primary )?` +
		`(?:sources?(?:\(s\))?(?: (?:(?:&|and) (?:references|citations)|cited|used|consulted))?|references(?: (?:&|and) (?:sources|links))?)` +
		`[ *_]*([:：])?[ *_]*$`)
	// footnote matches the definition of a footnote.
	footnote       = lazily(`^ {0,3}\[\^[^\]\s]{1,32}\]:[ ]*`)
	link           = lazily(`^\[([^\[\]]{1,300})\]\((?:<)?([^()\s<>]+(?:\([^()\s<>]*\)[^()\s<>]*)*)>?(?: "[^"]*")?\)$`)
	linkSeparators = lazily(`^(?:[ ,;/|&·•]|and\b|or\b)+`)
)

// addSources adds the sources of a line. Each region ends where the next one begins. In the header of a
// table, labels name columns.
func (r *reader) addSources(l *line, regions []region, header bool) {
	raw := l.raw
	if containsAny(l.lower, "source", "reference", "regulatory") || strings.HasPrefix(strings.TrimLeft(raw, " "), "[^") {
		lower := lowerCase(raw)
		if m := sourceHeading().FindStringSubmatch(lower[:runeStart(lower, min(len(lower), shapeWindow))]); m != nil && len(lower) <= shapeWindow && m[1]+m[2] != "" {
			r.inSources = true
			return
		}
		if mark := footnote().FindString(raw); mark != "" {
			r.readSources(raw[len(mark):])
			return
		}
		regions = append(regions, sourceLabels(raw, lower, header)...)
		slices.SortStableFunc(regions, func(a, b region) int { return a.start - b.start })
	}
	for i, at := range regions {
		if at.from < 0 {
			continue
		}
		if i+1 < len(regions) {
			at.end = min(at.end, max(at.from, regions[i+1].start))
		}
		if at.labeled {
			at.end = valueEnd(raw, at.start, at.from, at.end)
		}
		if value := trimValue(raw, at.from, at.end); !at.labeled {
			r.readSource(value)
		} else if !isDirection(value) {
			for _, fragment := range fragments(value) {
				r.readSources(fragment)
			}
		}
	}
}

// trimValue returns raw[from:end] without the punctuation before the next label.
func trimValue(raw string, from, end int) string {
	if end < len(raw) {
		return strings.TrimRight(raw[from:end], " ([-–—,;·•")
	}
	return raw[from:]
}

// isDirection reports whether a value names the two ends of a conversion, such as "English → German",
// instead of a source.
func isDirection(value string) bool {
	return containsAny(value, "→", "->", "=>") && !address().MatchString(value)
}

// sourceLabels returns the source labels of a line in order. A label is at the start of the line or
// bold, and not in code or in a URL.
func sourceLabels(raw, lower string, header bool) (all []region) {
	const maxIndent = 128
	lastTick, ticks, counted, behind := strings.LastIndexByte(raw, '`'), 0, 0, 0
	for i := 0; ; {
		at, k := nextKeyword(lower, i, len(lower))
		if k == nil {
			return all
		}
		i = at + len(k.word)
		m := sourceWords().FindStringSubmatchIndex(lower[at:min(len(lower), at+shapeWindow)])
		if m == nil || at < behind || inURL(lower, at) {
			continue
		}
		ticks += strings.Count(raw[counted:at], "`")
		counted = at
		start := len(strings.TrimRight(raw[behind:at], "*_")) + behind
		bold := at-start >= 2
		if ticks%2 == 1 && lastTick > at || !bold && !(at < maxIndent && labelStart().MatchString(raw[:at])) || lower[at+m[2]] == '|' && (header || !isPairRow(raw, at)) {
			continue
		}
		behind = at + m[1]
		if start == at {
			behind = at + m[3]
		}
		all = append(all, region{start: start, from: behind, end: len(raw), labeled: true})
	}
}

// inURL reports whether an offset is within a web address.
func inURL(s string, at int) bool {
	before := s[max(0, at-valueWindow):at]
	return strings.Contains(before[strings.LastIndexByte(before, ' ')+1:], "://")
}

// isPairRow reports whether the line is a row of two cells, and the first holds only the label at
// start. In a longer row, the label may name a column or several values.
func isPairRow(raw string, start int) bool {
	row := strings.TrimRight(raw, " ")
	return strings.Trim(raw[:start], " >*_") == "|" && strings.Count(strings.TrimSuffix(row, "|"), "|") == 2
}

// labelStart matches what may precede a label at the start of its line: marks of quotes, lists,
// headings and cells.
var labelStart = lazily(`^[ >#*_+•·–—|(\[-]*(?:[0-9]+[.)][ >#*_+•·–—|(\[-]*)?$`)

// readListed reads a line below "Sources:" and reports whether it belongs to the list there.
func (r *reader) readListed(raw []byte) bool {
	text := strings.TrimSpace(readable(raw))
	if strings.Trim(text, "-=") == "" {
		return true
	}
	item, ok := listItem(text)
	r.inSources = ok && !hasOwnLabel(item)
	if r.inSources {
		r.readSources(item)
	}
	return r.inSources
}

// itemMark matches "- ", "1. ", "[1] " or "[^1]: " at the start of a list item.
var itemMark = lazily(`^(?:[-*+•] |[0-9]{1,3}[.)] |\[\^?[0-9a-z]{1,8}\]:? )`)

// listItem returns the text of a list item such as "- MTBS", and whether it is one.
func listItem(text string) (string, bool) {
	mark := itemMark().FindString(text)
	return text[len(mark):], mark != ""
}

// hasOwnLabel reports whether a list item has a label of its own, so that it is not a source.
func hasOwnLabel(item string) bool {
	l := newLine(item)
	for _, h := range appendHits(nil, l.lower) {
		for range l.candidates(h) {
			return true
		}
	}
	return len(sourceLabels(item, l.lower, false)) > 0
}

// readSources adds each link of a text as a source, or the whole text if it has fewer than two links.
func (r *reader) readSources(text string) {
	var parts []string
	for rest := text; ; {
		from, end := addressIn(rest)
		if from < 0 {
			break
		}
		for end < len(rest) && strings.IndexByte(">)]", rest[end]) >= 0 {
			end++
		}
		parts = append(parts, rest[:end])
		rest = rest[end:]
	}
	if len(parts) < 2 {
		r.readSource(text)
		return
	}
	for _, part := range parts {
		r.readSource(part[len(linkSeparators().FindString(part)):])
	}
}

// readSource adds a source with its date and address. A link is named by its text.
func (r *reader) readSource(text string) {
	if !isNamed(text) {
		return
	}
	c := event.Citation{Source: clean(text), Reference: isoDate(text), Origin: r.origin}
	if from, end := addressIn(text); from >= 0 {
		c.URI = ifShort(text[from:end])
	}
	if m := link().FindStringSubmatch(c.Source); m != nil && c.URI != "" {
		c.Source = clean(m[1])
	}
	r.addCitation(c)
}

// fragments splits a list such as "plot data, PNW models, Regional market analysis 2025" into sources.
// It keeps the whole text as one source if a fragment has a colon ("MTBS, Imagery date: 2022-09-15"),
// begins in lower case or has no letters ("USGS, 2022").
func fragments(list string) []string {
	var all []string
	depth, from := 0, 0
	for i := range len(list) {
		switch list[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth <= 0 && strings.HasPrefix(list[i+1:], " ") {
				all = append(all, list[from:i])
				from = i + 1
			}
		}
	}
	all = append(all, list[from:])
	if slices.ContainsFunc(all[1:], continuation().MatchString) {
		return []string{list}
	}
	return all
}

// continuation matches a fragment that continues the source before it.
var continuation = lazily("^[ *_`]*[^ *_`\\p{Lu}\\p{Lt}\\p{Lo}\\p{Lm}\\p{Nd}]|:|^[ *_`]*[^ *_`\\pL][^\\pL]*$")

var nameless = setOf("nameless")

// isNamed reports whether a text names a source.
func isNamed(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) && !nameless[lowerCase(strings.Trim(text, " *_`().-"))]
}

// date matches an ISO 8601 date. It does not check the length of the month.
var date = lazily(`(?:^|[^0-9])([0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))(?:[^0-9]|$)`)

// isoDate returns a copy of the first date of the form 2022-09-15, or "".
func isoDate(text string) string {
	if strings.IndexByte(text, '-') < 0 {
		return ""
	}
	if found := date().FindStringSubmatch(text); found != nil {
		return strings.Clone(found[1])
	}
	return ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

var address = lazily("(?i)https?://[^ <>\"`|\\\\^{}]*")

// addressIn returns where the first web address begins and ends, or -1.
func addressIn(text string) (from, end int) {
	at := address().FindStringIndex(text)
	if at == nil {
		return -1, -1
	}
	return at[0], at[0] + len(trimAddress(text[at[0]:at[1]]))
}

// trimAddress cuts a URL before an unmatched closing bracket and before punctuation that ends a
// sentence.
func trimAddress(uri string) string {
	depth := 0
cut:
	for i := range len(uri) {
		switch uri[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth < 0 {
				uri = uri[:i]
				break cut
			}
		}
	}
	return strings.TrimRight(uri, ".,;:!?'*_")
}
