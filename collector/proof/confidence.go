package proof

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// statement is one confidence as it stands behind a label.
type statement struct {
	value float64
	known bool
	label string // the words, and figures that are no single ratio, as written
	scope string
	rated bool // both in words and in figures, so that what follows a dash is what the rating rests on
}

const (
	opening = " *_`(["
	closing = " *_`)]"
	glue    = " *_`()[],:/"
)

// statements reads "High (90%) - Direct CFR citations" or "95% for timber, 90% for trails". The first statement begins the value, or there is none. Of those without a scope only the first counts, for a later percent is part of what explains it; those with a scope all count. The rationale begins at the offset returned, -1 for none.
func (c *cursor) statements() (all []statement, rationale int) {
	first, ok := c.statement(true)
	if !ok {
		return nil, -1
	}
	all, rationale = append(all, first), -1
	plain := first.scope == ""
	for {
		end := *c
		dash, ok := c.separator()
		if !ok {
			*c = end
			return all, rationale
		}
		if dash && rationale < 0 && first.rated {
			rationale = c.at
		}
		next, ok := c.statement(false)
		if !ok || plain && next.scope == "" {
			continue
		}
		plain = plain || next.scope == ""
		all = append(all, next)
	}
}

// separator moves behind the next sign that another statement may follow.
func (c *cursor) separator() (dash, ok bool) {
	for i, r := range c.rest() {
		behind := c.at + i + utf8.RuneLen(r)
		switch r {
		case '–', '—':
			dash = true
		case '-':
			dash = strings.HasSuffix(c.text[:behind-1], " ") && strings.HasPrefix(c.text[behind:], " ")
			if !dash {
				continue
			}
		case '.':
			if !strings.HasPrefix(c.text[behind:], " ") {
				continue
			}
		case ' ':
			after := cursor{text: c.text, lower: c.lower, at: behind}
			if !after.word("and", "but") {
				continue
			}
			behind = after.at
		case ',', ';', '(', '/', '&':
		default:
			continue
		}
		c.at = behind
		return dash, true
	}
	return false, false
}

// statement takes a level, an amount or both, in either order, and what they are for; first is the one that begins the value.
func (c *cursor) statement(first bool) (s statement, ok bool) {
	before := *c
	c.skip(opening)
	c.symbols()
	from, figures := c.at, false
	level, graded := c.level()
	if graded {
		c.word(" confidence")
		behind := *c
		c.glue()
		if s.value, s.known, figures = c.amount(false); !figures {
			*c = behind
		}
	} else if s.value, s.known, figures = c.amount(first); figures {
		c.word(" confidence")
		behind := *c
		c.glue()
		if level, graded = c.level(); !graded {
			*c = behind
		}
	}
	if !figures && !graded {
		*c = before
		return s, false
	}
	s.label, s.rated = level, figures && graded
	if figures && !s.known {
		c.skip(")]")
		s.label = unclosed(c.text[from:c.at])
	}
	c.skip(closing)
	s.scope = c.scope()
	return s, true
}

// glue skips what may stand between words and figures; a dash without a space behind it may be a minus.
func (c *cursor) glue() {
	c.skip(glue)
	if c.sign("- ") || c.sign("– ") || c.sign("— ") {
		c.skip(glue)
	}
}

// symbols skips the marks and pictures that models put before a value ("🟢 High").
func (c *cursor) symbols() {
	for i, r := range c.rest() {
		if !unicode.In(r, unicode.So, unicode.Sk, unicode.Mn, unicode.Me) && !strings.ContainsRune(opening, r) {
			c.at += i
			return
		}
	}
}

// unclosed cuts the brackets from the end of s that do not open in it.
func unclosed(s string) string {
	for strings.ContainsAny(s[len(s)-1:], ")]") && strings.Count(s, ")")+strings.Count(s, "]") > strings.Count(s, "(")+strings.Count(s, "[") {
		s = s[:len(s)-1]
	}
	return s
}

// scope takes what a value is for: "timber" of "for timber, 90% for trails".
func (c *cursor) scope() string {
	if !c.word("for") {
		return ""
	}
	from, end := c.at, len(c.text)
scan:
	for i, r := range c.rest() {
		at := from + i
		switch r {
		case ',', ';', '(', ')', '[', ']', '—':
			end = at
			break scan
		case '.':
			if rest := c.text[at+1:]; rest == "" || rest[0] == ' ' {
				end = at
				break scan
			}
		case ' ':
			if c.endsScope(at) {
				end = at
				break scan
			}
		}
	}
	c.at = end
	return c.text[from:end]
}

// endsScope reports whether a dash, or another statement, follows the space at this offset.
func (c *cursor) endsScope(at int) bool {
	after := cursor{text: c.text, lower: c.lower, at: at}
	if after.sign(" - ") || after.sign(" – ") {
		return true
	}
	after.at++
	if !after.word("and", "but", "&") {
		return false
	}
	_, graded := after.level()
	_, _, figures := after.amount(false)
	return graded || figures
}
