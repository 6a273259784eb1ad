package proof

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cursor reads a value from left to right. A method moves past what it names, or reports false and stays.
type cursor struct {
	text  string
	lower string // of the same bytes, and perhaps more
	at    int
}

func (c *cursor) rest() string { return c.text[c.at:] }

func (c *cursor) skip(set string) {
	c.at = len(c.text) - len(strings.TrimLeft(c.rest(), set))
}

// sign takes exactly s.
func (c *cursor) sign(s string) bool {
	if !strings.HasPrefix(c.lower[c.at:len(c.text)], s) {
		return false
	}
	c.at += len(s)
	return true
}

// word takes one of the words, whole and in whatever case, and the spaces behind it; a word that ends with a sign need not end there.
func (c *cursor) word(words ...string) bool {
	for _, w := range words {
		before := c.at
		if !c.sign(w) {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(c.rest()); !isLetter(rune(w[len(w)-1])) || !unicode.IsLetter(next) && !unicode.IsDigit(next) {
			c.skip(" ")
			return true
		}
		c.at = before
	}
	return false
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' }

// level takes "high", "very low" or "medium to high" where the words stand for themselves ("high severity" is none).
func (c *cursor) level() (string, bool) {
	before := *c
	if !c.grade() {
		return "", false
	}
	plain := *c
	if c.sign("-") || c.sign("–") || c.sign("/") || c.sign(" to ") || c.sign(" - ") {
		if c.grade() && c.ends(false) {
			return c.text[before.at:c.at], true
		}
	}
	*c = plain
	if !c.ends(false) {
		*c = before
		return "", false
	}
	return c.text[before.at:c.at], true
}

// grade takes one of the six words for how sure an answer is.
func (c *cursor) grade() bool {
	if c.sign("very low") || c.sign("very high") || c.sign("very-low") || c.sign("very-high") {
		return true
	}
	return c.sign("low") || c.sign("medium") || c.sign("moderate") || c.sign("high")
}

// follow are the words that may stand behind an amount or a level without making it one of something else ("40% burned", "high severity").
var follow = wordSet(`
	according across although and as assuming at average based because but by certain certainty confidence confident
	due for from given however if in likelihood low medium moderate high very on or overall pending per probability
	since sure that though to when where while with
`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// against are the words behind an amount that make it one of something else even where it stands right behind "Confidence:".
var against = wordSet(`of ci interval intervals credible prediction margin error errors doubt uncertain uncertainty unsure`)

// ends reports whether an amount or a level may end here; loose, whether one may that begins the value.
func (c *cursor) ends(loose bool) bool {
	next, size := utf8.DecodeRuneInString(c.rest())
	if unicode.IsLetter(next) || unicode.IsDigit(next) {
		return false
	}
	if after, _ := utf8.DecodeRuneInString(c.rest()[size:]); strings.ContainsRune("-'’‑", next) && unicode.IsLetter(after) {
		return false
	}
	ahead := *c
	ahead.skip(" ")
	word := ahead.letters()
	if word == "confidence" {
		ahead.skip(" ")
		word = ahead.letters()
		return word != "interval" && word != "intervals" && word != "limit" && word != "limits" && word != "band" && word != "region"
	}
	return word == "" || follow[word] || loose && !against[word]
}

// letters takes the letters that stand here, at most those of the longest word there is.
func (c *cursor) letters() string {
	from := c.at
	for i, r := range c.rest() {
		if !unicode.IsLetter(r) {
			break
		}
		if i > 20 {
			break
		}
		c.at = from + i + utf8.RuneLen(r)
	}
	return c.lower[from:c.at]
}

// amount takes how sure an answer is, in figures; loose where it begins the value. What is no single ratio — a range, a bound, a score of several points — is not known: any one number for it would be invented.
func (c *cursor) amount(loose bool) (value float64, known, ok bool) {
	before := *c
	open := c.word(">=", "<=", ">", "<", "≥", "≤", "at least", "at most", "more than", "less than", "over", "above", "under", "below", "up to")
	between := !open && c.word("between", "from")
	c.word("~", "≈", "about", "approximately", "approx.", "approx", "around", "roughly", "circa", "ca.")
	first, ok := c.number()
	if !ok {
		*c = before
		return 0, false, false
	}
	single := *c
	if c.upTo(first, between) && c.ends(loose) {
		return 0, false, true
	}
	*c = single
	if c.outOf(first) { // "0.5/5 stars" is none of half
		if ok = c.ends(false); !ok {
			*c = before
		}
		return 0, false, ok
	}
	c.margin()
	open = c.sign("+") || open
	value, ok = first.ratio()
	if !ok || between || !c.ends(loose) {
		*c = before
		return 0, false, false
	}
	if open {
		return 0, false, true
	}
	return value, true, true
}

// upTo takes the second number of a range.
func (c *cursor) upTo(first number, between bool) bool {
	before := *c
	c.skip(" ")
	apart := c.at > before.at
	if !c.word("-", "–", "—", "‑", "‒", "−", "to") && !(between && c.word("and")) {
		*c = before
		return false
	}
	second, ok := c.number()
	if apart && first.percent && !second.percent { // "92% - 40 plots" is no range
		ok = false
	}
	percent := first.percent || second.percent
	first.percent, second.percent = percent, percent
	_, firstOK := first.ratio()
	_, secondOK := second.ratio()
	if !ok || !firstOK || !secondOK || apart && !c.ends(false) {
		*c = before
		return false
	}
	return true
}

// outOf takes the second number of "9/10" or "9 out of 10".
func (c *cursor) outOf(first number) bool {
	before := *c
	c.skip(" ")
	if !c.word("/", "out of", "of") {
		*c = before
		return false
	}
	second, ok := c.number()
	if !ok || first.percent || second.percent {
		*c = before
		return false
	}
	return true
}

// margin takes "± 3%", which leaves the number before it what it is.
func (c *cursor) margin() {
	before := *c
	c.skip(" ")
	if c.word("±", "+/-") {
		if _, ok := c.number(); ok {
			return
		}
	}
	*c = before
}

// number is digits as they stand, perhaps with a point, and their unit.
type number struct {
	digits  string
	percent bool
}

const (
	maxWhole    = 3
	maxFraction = 12 // so that a float64 says what was written
)

// number refuses what another reader could take for another number: "92,5", "1.2.3", "92%25".
func (c *cursor) number() (number, bool) {
	before := *c
	whole := c.digits()
	fraction := 0
	if point := *c; c.sign(".") {
		if fraction = c.digits(); fraction == 0 {
			*c = point
		}
	}
	n := number{digits: c.text[before.at:c.at]}
	if whole+fraction == 0 || whole > maxWhole || fraction > maxFraction || c.continues() {
		*c = before
		return number{}, false
	}
	bare := *c
	c.skip(" ")
	if n.percent = c.sign("%") || c.sign("％") || c.sign("percent") || c.sign("per cent"); !n.percent {
		*c = bare
	}
	if next, _ := utf8.DecodeRuneInString(c.rest()); unicode.IsLetter(next) || unicode.IsDigit(next) {
		*c = before
		return number{}, false
	}
	return n, true
}

func (c *cursor) digits() int {
	from := c.at
	c.skip("0123456789")
	return c.at - from
}

// continues reports whether a number goes on in a way that is not read.
func (c *cursor) continues() bool {
	rest := c.rest()
	return len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') && '0' <= rest[1] && rest[1] <= '9'
}

// ratio returns a number as a part of 1. A number without a unit is one only with a point: "1" may stand on any scale.
func (n number) ratio() (float64, bool) {
	digits := n.digits
	if n.percent {
		digits += "e-2" // exact, as a division would not be
	} else if !strings.Contains(digits, ".") {
		return 0, false
	}
	value, err := strconv.ParseFloat(digits, 64)
	return value, err == nil && value <= 1
}
