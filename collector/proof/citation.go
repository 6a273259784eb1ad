package proof

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/event"
)

// region is where a citation stands in a line: from its first byte to the next label, or less.
type region struct {
	from     int // -1 for none
	split    bool
	enclosed bool
}

// close takes the citation of a region that ends at most at end.
func (r *reader) close(l *line, open region, end int) {
	if open.from < 0 {
		return
	}
	end = l.valueEnd(open.from, max(open.from, end), open.enclosed)
	value := l.text[open.from:end]
	if end < len(l.text) { // what led to the next label
		value = strings.TrimRight(value, " ([-–—,;·•")
	}
	if open.split && end == len(l.text) && strings.Trim(value, " *_") == "" {
		r.listing = true
		return
	}
	if !open.split {
		r.citeText(value)
		return
	}
	for _, fragment := range fragments(value) {
		r.citeText(fragment)
	}
}

// listed takes a line below "Sources:" and reports whether it belongs to the list there.
func (r *reader) listed(raw []byte) bool {
	text := strings.TrimSpace(readable(raw))
	if text == "" {
		return true
	}
	item, ok := listItem(text)
	r.listing = ok && !ownLabel(item)
	if r.listing {
		r.citeText(item)
	}
	return r.listing
}

// listItem returns the text of "- MTBS" or "1. MTBS".
func listItem(text string) (string, bool) {
	number := strings.TrimLeft(text, "0123456789")
	if number != text && len(number) > 0 && strings.ContainsRune(".)", rune(number[0])) {
		text = "-" + number[1:]
	}
	for _, mark := range []string{"- ", "* ", "+ ", "• "} {
		if item, ok := strings.CutPrefix(text, mark); ok {
			return item, true
		}
	}
	return "", false
}

// ownLabel reports whether a list item is a statement rather than a source.
func ownLabel(item string) bool {
	_, ok := newLine(item).label()
	return ok
}

// citeText takes a source as it stands, with the date and the address in it.
func (r *reader) citeText(text string) {
	if isNamed(text) && r.take() {
		r.cite(event.Citation{Source: bounded(text), Reference: isoDate(text), URI: address(text)})
	}
}

// fragments splits "plot data, PNW models, Regional market analysis 2025", and leaves one source whole: a fragment that has a colon ("MTBS, Imagery date: 2022-09-15"), continues in lower case or has no letters ("USGS, 2022") belongs to what stands before it.
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
	for _, fragment := range all[1:] {
		if continues(fragment) {
			return []string{list}
		}
	}
	return all
}

func continues(fragment string) bool {
	fragment = strings.TrimLeft(fragment, " *_`")
	if fragment == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(fragment)
	return strings.Contains(fragment, ":") || unicode.IsLower(first) ||
		!unicode.IsLetter(first) && !unicode.IsDigit(first) || !strings.ContainsFunc(fragment, unicode.IsLetter)
}

// nameless are words that say there is no source.
var nameless = map[string]bool{
	"n/a": true, "na": true, "none": true, "unknown": true, "tbd": true, "unspecified": true, "not available": true,
	"not applicable": true, "not specified": true, "not provided": true, "none provided": true, "none available": true,
}

// isNamed reports whether text names a source at all.
func isNamed(text string) bool {
	return strings.ContainsFunc(text, isWord) && !nameless[lowerASCII(strings.Trim(text, " *_`().-"))]
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isoDate returns a copy of the first date of the form 2022-09-15, or "".
func isoDate(text string) string {
	for i := 0; ; {
		dash := strings.IndexByte(text[i:], '-')
		if dash < 0 {
			return ""
		}
		i += dash + 1
		if from := i - 5; from >= 0 && isDate(text[from:]) && (from == 0 || !isDigit(text[from-1])) {
			return strings.Clone(text[from : from+10])
		}
	}
}

// isDate reports whether text begins with a date of ISO 8601, without asking how long its month is.
func isDate(text string) bool {
	if len(text) < 10 || len(text) > 10 && isDigit(text[10]) || text[4] != '-' || text[7] != '-' {
		return false
	}
	for _, i := range []int{0, 1, 2, 3, 5, 6, 8, 9} {
		if !isDigit(text[i]) {
			return false
		}
	}
	month, day := text[5:7], text[8:10]
	return "01" <= month && month <= "12" && "01" <= day && day <= "31"
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// address returns the first web address, or "".
func address(text string) string {
	lower := lowerASCII(text)
	from := strings.Index(lower, "https://")
	if plain := strings.Index(lower, "http://"); plain >= 0 && (from < 0 || plain < from) {
		from = plain
	}
	if from < 0 {
		return ""
	}
	uri := text[from:]
	if end := strings.IndexAny(uri, " <>\"`|\\^{}"); end >= 0 {
		uri = uri[:end]
	}
	return whole(balanced(uri))
}

// balanced cuts a URL where a bracket closes that was opened before it, and the marks that end a sentence.
func balanced(uri string) string {
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
