package proof

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/event"
)

// figure is one stated value: a number, a range, a scale or a level in words.
type figure struct {
	value, low, high event.Ratio
	label            string // as written, if a number alone does not say it
	inWords          bool
	noUnit           bool // a whole number without a unit
	isScale          bool // a scale such as "0-100%", which is not a value
}

// measure says how to read a figure without a unit.
type measure struct {
	of    float64 // upper end of the scale; 0 if the label does not name it
	loose bool    // the value is the first after its label, so nearly any word may follow it
}

// valueShape is one way to write a value, a row of tables/values.txt.
type valueShape struct {
	name, expression, reading, example, counterExample string

	re      *regexp.Regexp
	read    func(g groups, m measure) (figure, bool)
	numeric bool            // may begin with a digit
	starts  map[string]bool // letters, or the first two bytes of words, with which a value in words begins
}

var readers = map[string]func(g groups, m measure) (figure, bool){
	"score": readScore, "stars": readStars, "range": readRange, "lower bound": readLowerBound, "upper bound": readUpperBound,
	"figure": readFigure, "level": readWords, "first person": readWords,
}

// valueShapes returns the shapes of values, which are tried in order. They are compiled like shapes.
var valueShapes = sync.OnceValue(func() (all []*valueShape) {
	for _, row := range rows("values") {
		c := cells(row, 5)
		v := &valueShape{name: c[0], expression: c[1], reading: c[2], example: c[3], counterExample: c[4], re: compile("^(?:" + c[1] + ")"), read: readers[c[0]], starts: map[string]bool{}}
		for _, sample := range []string{"4", "4/5", "4-5", "4+"} {
			v.numeric = v.numeric || v.re.FindString(sample) != ""
		}
		for _, word := range regexp.MustCompile(`\\.|\pL+`).FindAllString(expand(c[1]), -1) {
			v.starts[word[:min(2, len(word))]] = true
		}
		all = append(all, v)
	}
	return all
})

// maxValue bounds the bytes of one value.
const maxValue = 64

// readValue reads the value that s, in lower case, begins with, and returns its length.
func readValue(s string, m measure) (f figure, size int, ok bool) {
	if s == "" {
		return figure{}, 0, false
	}
	if f, size, ok := readPercentage(s, m); ok {
		return f, size, true
	}
	window := s[:runeStart(s, min(len(s), maxValue))]
	for _, v := range valueShapes() {
		if !v.mayBegin(window) {
			continue
		}
		at := v.re.FindStringSubmatchIndex(window)
		if at == nil || at[1] == 0 {
			continue
		}
		f, ok := v.read(groupsOf(window, at), m)
		if f.isScale {
			return figure{}, 0, false
		}
		size := at[1]
		if v.name == "level" {
			if n := v.joinedEnd(window, size); canEndBefore(s[n:], false) {
				size, f.label = n, window[:n]
			}
		}
		if !ok || !canEndBefore(s[size:], m.loose && v.name != "range" && v.name != "score" && !f.inWords && !f.noUnit) {
			continue
		}
		if f.label == "" && (!f.value.Known || v.name == "score") {
			f.label = strings.TrimSpace(window[:size])
		}
		return f, size, true
	}
	return figure{}, 0, false
}

// readPercentage reads "92%" before punctuation. It gives the same result as the expressions in a
// tenth of the time, and most statements have this form.
func readPercentage(s string, m measure) (f figure, size int, ok bool) {
	digits := 0
	for digits < len(s) && (isDigit(s[digits]) || s[digits] == '.') {
		digits++
	}
	if digits == 0 || digits == len(s) || s[digits] != '%' || !isDigit(s[digits-1]) {
		return figure{}, 0, false
	}
	rest := s[digits+1:]
	if rest != "" && strings.IndexByte(")];|", rest[0]) < 0 && !strings.HasPrefix(rest, " for ") {
		return figure{}, 0, false
	}
	f, ok = readFigure(groups{s[:digits], "%"}, m)
	return f, digits + 1, ok
}

// mayBegin reports whether a text can begin with a value of this shape. It is cheaper than the
// expression.
func (v *valueShape) mayBegin(text string) bool {
	if r, _ := utf8.DecodeRuneInString(text); unicode.IsLetter(r) {
		return v.starts[text[:1]] || v.starts[text[:min(2, len(text))]]
	} else if !isDigit(text[0]) && text[0] != '.' {
		return v.name != "score"
	}
	switch v.name {
	case "score", "range": // contain a second number
		rest := strings.TrimLeft(text, "0123456789.,")
		return strings.ContainsAny(rest[:min(len(rest), 24)], "0123456789")
	case "lower bound":
		return strings.IndexByte(text, '+') >= 0
	}
	return v.numeric
}

// levelSeparator matches the words or signs that join two levels to one value.
var levelSeparator = lazily(`^(?: ?[-–/] ?| to | bis | à | a | tot )`)

// joinedEnd returns where a second level ends that is joined to the level before end, or end if there is
// none.
func (v *valueShape) joinedEnd(text string, end int) int {
	if to := levelSeparator().FindString(text[end:]); to != "" {
		if next := v.re.FindString(text[end+len(to):]); next != "" {
			return end + len(to) + len(next)
		}
	}
	return end
}

// groups are the texts that the groups of an expression match.
type groups [5]string

func groupsOf(s string, at []int) (g groups) {
	for i := 2; i < len(at); i += 2 {
		if at[i] >= 0 {
			g[i/2-1] = s[at[i]:at[i+1]]
		}
	}
	return g
}

func readScore(g groups, _ measure) (figure, bool) {
	points, ok := parseNumber(g[0])
	whole, _ := parseNumber(g[1])
	if !ok || points > whole || whole == 1 && !strings.ContainsAny(g[0], ".,") {
		return figure{}, false
	}
	share, _ := strconv.ParseFloat(strconv.FormatFloat(points/whole, 'g', 12, 64), 64)
	return figure{value: knownRatio(share)}, true
}

func readStars(g groups, _ measure) (figure, bool) {
	filled, empty := utf8.RuneCountInString(g[0]), utf8.RuneCountInString(g[1])
	if empty == 0 {
		return figure{label: g[0], inWords: true}, filled > 0
	}
	return figure{value: knownRatio(float64(filled) / float64(filled+empty)), label: g[0] + g[1]}, filled+empty <= 10
}

func readRange(g groups, m measure) (figure, bool) {
	first, second := g[1], g[4]
	if first != "" && second == "" && g[2] != "" { // "92% - 40 plots"
		return figure{}, false
	}
	low, ok := toRatio(g[0], first+second, m)
	high, also := toRatio(g[3], first+second, m)
	wholeScale := ok && also && low == 0 && high == 1
	return figure{low: knownRatio(low), high: knownRatio(high), isScale: wholeScale}, ok && also && low < high
}

func readLowerBound(g groups, m measure) (figure, bool) {
	low, ok := toRatio(g[0]+g[2], g[1]+g[3], m)
	return figure{low: knownRatio(low), noUnit: g[1]+g[3] == ""}, ok
}

func readUpperBound(g groups, m measure) (figure, bool) {
	high, ok := toRatio(g[0], g[1], m)
	return figure{high: knownRatio(high), noUnit: g[1] == ""}, ok
}

func readFigure(g groups, m measure) (figure, bool) {
	value, ok := toRatio(g[0], g[1], m)
	return figure{value: knownRatio(value), noUnit: g[1] == "" && !strings.ContainsAny(g[0], ".,")}, ok
}

func readWords(g groups, _ measure) (figure, bool) {
	return figure{label: g[0], inWords: true}, true
}

func knownRatio(value float64) event.Ratio { return event.Ratio{Value: value, Known: true} }

// Limits of the digits of a number, so that a float64 is exact enough.
const (
	maxWhole    = 3
	maxFraction = 12
)

// parseNumber reads digits with a decimal point or comma. A comma before three digits separates
// thousands.
func parseNumber(digits string) (float64, bool) {
	whole, part, comma := strings.Cut(digits, ",")
	if comma && len(part) == 3 && whole != "0" {
		return 0, false
	}
	if !comma {
		whole, part, _ = strings.Cut(digits, ".")
	}
	if len(whole) > maxWhole || len(part) > maxFraction {
		return 0, false
	}
	value, err := strconv.ParseFloat(whole+"."+part, 64)
	return value, err == nil
}

// toRatio returns a number as a ratio. A number above 10 without a unit and a scale is a percentage. Such a
// number up to 10 must have a decimal point and be at most 1: the scale of others is unknown.
func toRatio(digits, unit string, m measure) (float64, bool) {
	value, ok := parseNumber(digits)
	digits = strings.Replace(digits, ",", ".", 1)
	switch {
	case !ok:
		return 0, false
	case unit != "" || m.of == 100 && value > 1 || m.of == 0 && value > minPercentage:
		value, _ = strconv.ParseFloat(digits+"e-2", 64) // exact, unlike a division
	case m.of > 1 && (value > 1 || m.of < 100):
		value /= m.of
	case !strings.Contains(digits, "."):
		return 0, false
	}
	return value, value <= 1
}

// minPercentage is the number that a percentage without a unit must exceed.
const minPercentage = 10

var (
	followers    = setOf("follow")
	nonFollowers = setOf("against")
	boundWords   = setOf("limits")
)

// canEndBefore reports whether a value may end before rest. With loose, any word may follow that is
// not in nonFollowers.
func canEndBefore(rest string, loose bool) bool {
	if rest == "" {
		return true
	}
	next, size := utf8.DecodeRuneInString(rest)
	after, _ := utf8.DecodeRuneInString(rest[size:])
	switch {
	case unicode.IsLetter(next) || unicode.IsDigit(next):
		return strings.HasPrefix(rest, "です") || strings.HasPrefix(rest, "입니다")
	case strings.ContainsRune("$€£¥°", next), strings.HasPrefix(strings.TrimLeft(rest, " "), "→"):
		return false
	case strings.ContainsRune("-'’‑/", next) && unicode.IsLetter(after), strings.ContainsRune(".,%-–/", next) && unicode.IsDigit(after):
		return false
	}
	if isAboutOthers(rest) {
		return false
	}
	word, behind := nextWord(rest)
	if word == "confidence" {
		word, _ = nextWord(behind)
		return !boundWords[word]
	}
	return word == "" || followers[word] || loose && !nonFollowers[word]
}

// nextWord returns the word after the spaces that s begins with, or "", and the text after it.
func nextWord(s string) (word, behind string) {
	const longest = 24
	s = strings.TrimLeft(s, " ")
	for i, r := range s {
		if !unicode.IsLetter(r) || i > longest {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// runeStart returns the largest offset up to at where a rune begins.
func runeStart(s string, at int) int {
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}
