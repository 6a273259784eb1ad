package proof

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/event"
)

// figure is how sure an answer is, as one value states it.
type figure struct {
	value, low, high event.Ratio
	label            string // as written, where no number says it all
	worded           bool
	bare             bool // a whole number without a unit
	void             bool // what no value can stand for, such as "0-100%"
}

// measure is what the figures of a value without a unit are measured on.
type measure struct {
	of    float64 // 0 where the label does not say
	loose bool    // the value begins what is behind a label, so that fewer words behind it make it one of something else
}

// valueShape is one way to write a value.
type valueShape struct {
	name, expression string
	read             func(g groups, m measure) (figure, bool)
	says             string // how the value is read
	example, counter string // what stands behind "Confidence: "
	re               *regexp.Regexp
	first            [256]bool // the bytes that it can begin with
}

// valueShapes are tried in order. The expressions stand at the beginning of the value; what may not follow it is in ends.
var valueShapes = compileValues([]valueShape{
	{
		name: "score", expression: `(` + number + `) ?(?:/|out of|of|von|sur|de|su|van) ?(5|10|100|1(?:\.0+)?)\b`, read: readScore,
		says: "the share of the whole, with the score as its label", example: "4 out of 5", counter: "3 of 7 plots",
	},
	{
		name: "stars", expression: `([★⭐✭●]{0,10})\x{FE0F}?([☆✩○]{0,10})`, read: readStars,
		says: "the share of the stars that are filled; the stars alone where none is empty", example: "★★★★☆", counter: "☺",
	},
	{
		name: "range", expression: `(?:between |from |zwischen |entre )?(` + number + `)(` + percent + `?)( ?)(?:-|–|—|‑|‒|−|~|～|to\b|and\b|bis\b|à|a\b|até\b|tot\b) ?(` + number + `)(` + percent + `?)`, read: readRange,
		says: "both ends", example: "85-90%", counter: "0-100%",
	},
	{
		name: "lower bound", expression: `(?:(?:>=|≥|>|at least|more than|over|above|mindestens|über|au moins|plus de|al menos|más de|pelo menos|almeno|minstens) ?` + roughly + `*(` + number + `)(` + percent + `?)|(` + number + `)(` + percent + `?)\+)`, read: readLowest,
		says: "the lower end of a range", example: "at least 90%", counter: "more than 90 plots",
	},
	{
		name: "upper bound", expression: `(?:<=|≤|<|at most|less than|under|below|up to|höchstens|unter|au plus|moins de|menos de|hasta|meno di|hooguit) ?` + roughly + `*(` + number + `)(` + percent + `?)`, read: readHighest,
		says: "the upper end of a range", example: "below 40%", counter: "under 40 plots",
	},
	{
		name: "figure", expression: `(` + number + `)(` + percent + `?)(?: ?(?:±|\+/-) ?` + number + percent + `?)?`, read: readFigure,
		says: "the number: a percentage, a ratio with a decimal point or comma, a whole number above 10 as a percentage", example: "0,92", counter: "1,000%",
	},
	{
		name: "rough figure", expression: roughly + `+(` + number + `)(` + percent + `?)`, read: readFigure,
		says: "the number", example: "about 70%", counter: "about 70 plots",
	},
	{
		name: "level", expression: `(` + level + `)`, read: readWords,
		says: "the words as they stand, without a number; two levels with \"to\" or a sign between them are one", example: "moderate to high", counter: "high severity",
	},
	{
		name: "first person", expression: `(?:` + verb + `)?(` + degree + ` ` + sureness + `)`, read: readWords,
		says: "the words behind the verb as they stand, without a number", example: "I'm fairly confident", counter: "I'm confident",
	},
})

func compileValues(shapes []valueShape) []valueShape {
	for i := range shapes {
		shapes[i].re = regexp.MustCompile(`^(?:` + shapes[i].expression + `)`)
		shapes[i].first = firstBytes(shapes[i].re)
	}
	return shapes
}

// readValue reads the value that s, in lower case, begins with, and returns its length.
func readValue(s string, m measure) (f figure, size int, ok bool) {
	if s == "" {
		return figure{}, 0, false
	}
	window := s[:runeStart(s, min(len(s), maxValue))]
	for i := range valueShapes {
		v := &valueShapes[i]
		if !v.maybe(window) {
			continue
		}
		at := v.re.FindStringSubmatchIndex(window)
		if at == nil || at[1] == 0 {
			continue
		}
		f, ok := v.read(groupsOf(window, at), m)
		if f.void {
			return figure{}, 0, false
		}
		if v.name == "level" {
			if n := v.extent(window, at[1]); ends(s[n:], false) {
				at[1], f.label = n, window[:n]
			}
		}
		if !ok || !ends(s[at[1]:], m.loose && v.name != "range" && v.name != "score" && !f.worded && !f.bare) {
			continue
		}
		if f.label == "" && (!f.value.Known || v.name == "score") {
			f.label = strings.TrimSpace(window[:at[1]])
		}
		return f, at[1], true
	}
	return figure{}, 0, false
}

// joint is what makes one level of two.
var joint = regexp.MustCompile(`^(?: ?[-–/] ?| to | bis | à | a | tot )`)

// extent returns where a level ends that is joined to the one before an offset, or that offset.
func (v *valueShape) extent(window string, end int) int {
	if to := joint.FindString(window[end:]); to != "" {
		if at := v.re.FindStringIndex(window[end+len(to):]); at != nil {
			return end + len(to) + at[1]
		}
	}
	return end
}

// maxValue bounds the bytes of one value.
const maxValue = 64

// maybe reports whether a value of this shape can stand at the beginning of a text; it spares most expressions.
func (v *valueShape) maybe(window string) bool {
	if !v.first[window[0]] {
		return false
	}
	if digit := '0' <= window[0] && window[0] <= '9'; digit || window[0] == '.' {
		switch v.name {
		case "score", "range":
			rest := strings.TrimLeft(window, "0123456789.,")
			return strings.ContainsAny(rest[:min(len(rest), 24)], "0123456789")
		case "lower bound":
			return strings.IndexByte(window, '+') >= 0
		}
	}
	return true
}

// firstBytes returns the bytes that a match of an expression can begin with.
func firstBytes(re *regexp.Regexp) (set [256]bool) {
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		panic(err) // it has been compiled
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic(err)
	}
	seen := make([]bool, len(prog.Inst))
	var walk func(pc uint32)
	walk = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch in := prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			walk(in.Out)
			walk(in.Arg)
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			walk(in.Out)
		case syntax.InstRune, syntax.InstRune1:
			for i := 0; i < len(in.Rune); i += 2 {
				for b := utf8.AppendRune(nil, in.Rune[i])[0]; ; b++ {
					set[b] = true
					if b >= utf8.AppendRune(nil, in.Rune[min(i+1, len(in.Rune)-1)])[0] {
						break
					}
				}
			}
		case syntax.InstFail, syntax.InstMatch:
		default:
			for b := range set {
				set[b] = true
			}
		}
	}
	walk(uint32(prog.Start))
	return set
}

// groups are what the groups of an expression hold.
type groups [6]string

func groupsOf(s string, at []int) (g groups) {
	for i := 2; i < len(at) && i/2 <= len(g); i += 2 {
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
	return figure{value: known(share)}, true
}

func readStars(g groups, _ measure) (figure, bool) {
	filled, empty := utf8.RuneCountInString(g[0]), utf8.RuneCountInString(g[1])
	if filled+empty == 0 {
		return figure{}, false
	}
	if empty == 0 {
		return figure{label: g[0], worded: true}, true
	}
	return figure{value: known(float64(filled) / float64(filled+empty)), label: g[0] + g[1]}, filled+empty <= 10
}

func readRange(g groups, m measure) (figure, bool) {
	first, second := g[1], g[4]
	if first != "" && second == "" && g[2] != "" { // "92% - 40 plots"
		return figure{}, false
	}
	unit := first + second
	low, ok := toRatio(g[0], unit, m)
	high, also := toRatio(g[3], unit, m)
	if !ok || !also || low >= high || low == 0 && high == 1 {
		return figure{void: ok && also && low == 0 && high == 1}, false
	}
	return figure{low: known(low), high: known(high)}, true
}

func readLowest(g groups, m measure) (figure, bool) {
	low, ok := toRatio(g[0]+g[2], g[1]+g[3], m)
	return figure{low: known(low), bare: g[1]+g[3] == ""}, ok
}

func readHighest(g groups, m measure) (figure, bool) {
	high, ok := toRatio(g[0], g[1], m)
	return figure{high: known(high), bare: g[1] == ""}, ok
}

func readFigure(g groups, m measure) (figure, bool) {
	value, ok := toRatio(g[0], g[1], m)
	return figure{value: known(value), bare: g[1] == "" && !strings.ContainsAny(g[0], ".,")}, ok
}

func readWords(g groups, _ measure) (figure, bool) {
	return figure{label: g[0], worded: true}, true
}

func known(value float64) event.Ratio { return event.Ratio{Value: value, Known: true} }

// parseNumber reads digits with a decimal point or comma. A comma before three digits parts thousands.
func parseNumber(digits string) (float64, bool) {
	if whole, part, ok := strings.Cut(digits, ","); ok {
		if len(part) == 3 && whole != "0" {
			return 0, false
		}
		digits = whole + "." + part
	}
	if whole, part, _ := strings.Cut(digits, "."); len(whole) > maxWhole || len(part) > maxFraction {
		return 0, false
	}
	value, err := strconv.ParseFloat(digits, 64)
	return value, err == nil
}

// Bounds of the digits of a number, so that a float64 says what was written.
const (
	maxWhole    = 3
	maxFraction = 12
)

// toRatio returns a number as a part of 1. A number without a unit is one with a decimal point, or a percentage from 11 to 100: one
// up to 10 may stand on any scale.
func toRatio(digits, unit string, m measure) (float64, bool) {
	value, ok := parseNumber(digits)
	digits = strings.Replace(digits, ",", ".", 1)
	switch {
	case !ok:
		return 0, false
	case unit != "" || m.of == 100 && value > 1 || m.of == 0 && value > smallest:
		value, _ = strconv.ParseFloat(digits+"e-2", 64) // exact, as a division would not be
	case m.of > 1 && (value > 1 || m.of < 100):
		value /= m.of
	case !strings.Contains(digits, "."):
		return 0, false
	}
	return value, value <= 1
}

// smallest is what a percentage without a sign must exceed.
const smallest = 10

// follow are the words that may stand behind a value without making it one of something else ("40% burned", "high severity").
var follow = wordSet(`
	according across although and as assuming at average based because but by certain certainty confidence confident due for from given
	however if in is likelihood low medium moderate high very on or overall pending per probability since stars sure that though to when
	where while with validated then
	da weil für auf bei aufgrund basierend mit und nur car pour sur selon basée basé et porque para según basado y con pois com baseado e
	perché per in con omdat voor op want
`)

// against are the words behind a figure that make it one of something else even where it stands right behind "Confidence:".
var against = wordSet(`of ci interval intervals credible prediction margin error errors doubt uncertain uncertainty unsure percentile or ki ic accuracy accurate
	users respondents people consumers voters points pp complete completed done`)

// limits are the words that make confidence a term of statistics.
var limits = wordSet(`interval intervals limit limits band bands region bound bounds`)

// ends reports whether a value may end before rest; loose, whether one may that begins what a label states.
func ends(rest string, loose bool) bool {
	next, size := utf8.DecodeRuneInString(rest)
	after, _ := utf8.DecodeRuneInString(rest[size:])
	switch {
	case rest == "":
		return true
	case unicode.IsLetter(next) || unicode.IsDigit(next):
		return strings.HasPrefix(rest, "です") || strings.HasPrefix(rest, "입니다")
	case strings.ContainsRune("$€£¥°", next), strings.HasPrefix(strings.TrimLeft(rest, " "), "→"):
		return false
	case strings.ContainsRune("-'’‑/", next) && unicode.IsLetter(after), strings.ContainsRune(".,%-–/", next) && unicode.IsDigit(after):
		return false
	}
	word, behind := nextWord(rest)
	if word == "confidence" {
		word, _ = nextWord(behind)
		return !limits[word]
	}
	return word == "" || follow[word] || loose && !against[word]
}

// nextWord returns the word behind the spaces that s begins with, "" if there is none, and what follows it.
func nextWord(s string) (word, behind string) {
	s = strings.TrimLeft(s, " ")
	for i, r := range s {
		if !unicode.IsLetter(r) {
			return s[:i], s[i:]
		}
		if i > 24 {
			break
		}
	}
	return s[:min(len(s), 25)], ""
}

// runeStart returns the largest offset up to at where a rune begins, so that s[:offset] is whole.
func runeStart(s string, at int) int {
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}
