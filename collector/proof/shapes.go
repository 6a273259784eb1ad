package proof

import (
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"
)

// shape is one way to state a confidence. Its expression stands in a line in lower case; ‸ marks where the word begins that it is
// looked for by. A group named value holds the value, which valueShapes read; without one, the value follows.
type shape struct {
	name, expression string
	stems            string // the words that the mark may stand before, parted by spaces; "" for any
	labels           bool   // a colon may follow its word
	own              bool   // what stands before the mark, back to a boundary, must be the answer's own
	entire           bool   // nothing follows the value
	whole            bool   // all of it is the value
	method           bool   // words of statistics in the same line make it another thing
	says             string // how the value is read
	example, counter string

	words         []string // of stems
	noun          bool     // the mark stands before a noun, which after follows
	before, after *regexp.Regexp
}

const (
	share = `(?:` + roughly + `*` + number + percent + `)`
	first = `\b(?:i|we)(?:'m|’m| am|'re|’re| are|'d say i'm|’d say i’m)`
)

// shapes are tried in order at each stem. The first that fits is taken.
var shapes = compileShapes([]shape{
	{
		name: "label", expression: `‸⟨noun⟩[ ]*[:：=] *`, own: true, labels: true,
		says: "all statements that follow, each with its scope", example: "Confidence: 95% for timber, 90% for trails", counter: "Consumer confidence: 61.3%",
	},
	{
		name: "label with a remark", expression: `‸⟨noun⟩` + aspect + object + scale + `[ ]*` + sign, own: true, labels: true,
		says: "all statements that follow, each with its scope", example: "Confidence in this answer (0-100): 82", counter: "Confidence in the government: 35%",
	},
	{
		name: "label with a remark, other languages", expression: `‸⟨noun⟩` + foreign + ` ?[:：=] *`, own: true, labels: true,
		says: "all statements that follow, each with its scope", example: "Konfidenz dieser Antwort: 75 %", counter: "Vertrauen in die Regierung: 35 %",
	},
	{
		name: "attribute", expression: `<[a-z_]+ (?:[a-z_]+="[^"]*" )*‸confidence=["']`, stems: "confid", labels: true,
		says: "the content of the attribute", example: `<answer confidence="0.9">`, counter: `<answer min_confidence="0.9">`,
	},
	{
		name: "tag", expression: `<‸confidence(?:[_-](?:score|level|rating))?(?:>| (?:value|score|level)=["'])`, stems: "confid",
		says: "the content of the element", example: "<confidence>0.92</confidence>", counter: "<confidence-interval>0.95</confidence-interval>",
	},
	{
		name: "in brackets", expression: `[(\[（]‸⟨noun⟩` + aspect + ` (?:of |is )?(?P<value>[^()\[\]]+)[)\]）]`,
		says: "the value", example: "Sell (confidence high) now.", counter: "The album (confidence man) sold well.",
	},
	{
		name: "label without a sign", expression: `‸⟨noun⟩` + aspect + ` (?:of |at |around )?(?P<value>[^:=|()]+)$`, own: true, entire: true,
		says: "the value", example: "Confidence 90%", counter: "Confidence 90 of 100 people have",
	},
	{
		name: "value before", expression: `(?:^|[(\[（,;:.!—–|]|- )[ *]*(?P<value>` + roughly + `*` + number + `[^()\[\],;:.|]*|` + words + `)[ -]‸(?:confidence|confident|certain|sure)(?:[)\]）.,;|]| *$)`, stems: "confid certain sure", method: true,
		says: "the value", example: "The actor is known (90% confidence).", counter: "The mean is 4.2 (95% confidence interval 3.9–4.5).",
	},
	{
		name: "value and colon", expression: `^[-*• ]*` + figures + ` ‸confidence: ?[a-z]`, stems: "confid", labels: true, method: true,
		says: "the value", example: "90% confidence: the bolt was over-torqued.", counter: "at 95% confidence: 12%",
	},
	{
		name: "confidence is", expression: `(?:^|[.;:!] |\b(?:my|our) (?:overall )?|\bthe (?:overall |model's )?)‸confidence` + aspect + object + ` (?:is|stands at|remains|would be) (?:currently |at )?(?P<value>.+)`, stems: "confid", method: true,
		says: "the value", example: "My confidence in this estimate is about 65%.", counter: "The player's confidence is high.",
	},
	{
		name: "rated confidence", labels: true, expression: `\b(?:rate|put|place|estimate|set) (?:my|our) ‸confidence` + aspect + object + `(?: at| as|:)? (?P<value>.+)`, stems: "confid",
		says: "the value", example: "I rate my confidence at 7/10.", counter: "They rate your confidence at 7/10.",
	},
	{
		name: "has a confidence", expression: `(?:\b(?:this|my|the above) [a-z]+ (?:has|carries|comes with)|\b(?:i|we)(?:'d|’d| would)? (?:give|assign)[a-z ']*|(?:^|[.:;!] )with) an? (?:overall )?‸confidence` + aspect + ` of (?P<value>.+)`, stems: "confid", method: true,
		says: "the value", example: "This answer has a confidence of 92%.", counter: "This detector has a confidence threshold of 80%.",
	},
	{
		name: "I am sure", expression: first + `(?: now| still| only| just| at least)? ` + figures + ` ‸` + sureness, stems: "confid certain sure", method: true,
		says: "the value", example: "I'm 90% confident that the bug is in the parser.", counter: "She is 90% sure that she locked the door.",
	},
	{
		name: "I am sure, in brackets", expression: first + ` (?:` + degree + ` )?‸` + sureness + ` ?\((?P<value>[^()]+)\)`, stems: "confid certain sure", method: true,
		says: "the value", example: "I'm fairly certain (about 80%) that this is right.", counter: "She is certain (80%).",
	},
	{
		name: "I am very sure", expression: verb + degree + ` ‸` + sureness, stems: "confid certain sure", whole: true, method: true,
		says: "the words as they stand, with the word for sure", example: "I am highly confident in this translation.", counter: "The officials are highly confident in a deal.",
	},
	{
		name: "I have confidence", expression: `(?:\b(?:i|we)(?:'d|’d| would)? (?:have|hold|place|estimate|say|put|assign)|\bthere is) (?:an? )?(?P<value>` + words + `|` + share + `) (?:(?:degree|level) of )?‸confidence(?: level)?(?: (?:in|for) (?:this|these|my|our|it|the)\b| that\b|[.,;]|$)`, stems: "confid", method: true,
		says: "the value", example: "I have high confidence in this conclusion.", counter: "They have high confidence in their supplier.",
	},
	{
		name: "with confidence", expression: `(?:\b(?:i|we) (?:can|could|would|assess|judge|estimate|say|conclude|answer)[a-z ']*|\b(?:this|it)(?: is|'s|’s) [^.;:()]*|(?:^|[.:;!] ))with (?:about )?(?P<value>` + words + `|` + share + `) ‸(?:confidence|certainty)(?: that\b|[.;]|, (?:i|we|this|it)\b| *$)`, stems: "confid certain", method: true,
		says: "the value", example: "We assess with high confidence that the account was compromised.", counter: "The author states with high confidence that the site was inhabited.",
	},
	{
		name: "German sentence", expression: `\bich bin(?: mir)?(?: dabei| da)? (?:zu )?` + figures + ` ‸sicher\b`, stems: "sicher", method: true,
		says: "the value", example: "Ich bin zu 90 % sicher, dass die Frist am Montag endet.", counter: "Er ist zu 90 % sicher.",
	},
	{
		name: "German phrase", expression: `(?:^|[.:;] )mit ` + figures + ` ‸sicherheit (?:handelt|ist|liegt|stammt|war|hat)\b`, stems: "sicher", method: true,
		says: "the value", example: "Mit 95 % Sicherheit handelt es sich um Phishing.", counter: "Mit 95 % Sicherheit nach Norm.",
	},
	{
		name: "French sentence", expression: `\bje suis (?:donc |presque )?‸(?:sûre?|certaine?|confiante?) à ` + figures, stems: "sûr certain confian",
		says: "the value", example: "Je suis sûr à 90 % que le contrat est valable.", counter: "Elle est sûre à 90 % de sa réponse.",
	},
	{
		name: "Spanish sentence, figure behind", expression: `\bestoy ‸segur[ao] (?:al|en un) ` + figures, stems: "segur",
		says: "the value", example: "Estoy seguro al 90 %.", counter: "Está segura al 90 %.",
	},
	{
		name: "Spanish sentence", expression: `\bestoy (?:al |en un )?` + figures + ` ‸segur[ao]\b`, stems: "segur",
		says: "the value", example: "Estoy un 90 % seguro de que es correcto.", counter: "Ella está 80% segura de la fecha.",
	},
	{
		name: "Portuguese sentence", expression: `\b(?:estou|tenho) ` + figures + ` (?:de )?‸(?:certeza|confiante|confiança|segur[ao])\b`, stems: "certez confian segur",
		says: "the value", example: "Tenho 80% de certeza de que o prazo termina hoje.", counter: "Ela tem 80% de certeza.",
	},
	{
		name: "Italian sentence", expression: `\bsono ‸sicur[ao] (?:al |all['’])` + figures, stems: "sicur",
		says: "the value", example: "Sono sicuro all'80% che la perdita sia nel giunto.", counter: "Lei è sicura all'80% della data.",
	},
	{
		name: "Dutch sentence", expression: `\bik ben (?:er )?(?:voor )?` + figures + ` ‸zeker\b`, stems: "zeker",
		says: "the value", example: "Ik ben voor 80% zeker dat de zekering kapot is.", counter: "De getuige was voor 90% zeker.",
	},
	{
		name: "Chinese sentence", expression: `我[^，。；]*有(?:大约|约)?(?P<value>` + number + ` ?[%％])的?‸(?:把握|信心|确信)`, stems: "把握 信心 确信",
		says: "the value", example: "我有90%的把握认为这是正确的。", counter: "他有90%的把握。",
	},
	{
		name: "Japanese sentence", expression: `(?:^|[。、])(?:私は)?(?:約)?(?P<value>` + number + ` ?[%％])の?‸(?:確信|自信)`, stems: "確信 自信",
		says: "the value", example: "80%の確信があります。", counter: "専門家は90%確信している。",
	},
	{
		name: "Korean sentence", expression: `(?:^|[.] |저는 )(?:약 ?)?(?P<value>` + number + ` ?[%％]) ?‸확신`, stems: "확신",
		says: "the value", example: "90% 확신합니다.", counter: "전문가들은 90% 확신한다.",
	},
})

func compileShapes(shapes []shape) []shape {
	for i := range shapes {
		s := &shapes[i]
		s.words = strings.Fields(s.stems)
		before, after, _ := strings.Cut(s.expression, "‸")
		after, s.noun = strings.CutPrefix(after, "⟨noun⟩")
		s.before, s.after = regexp.MustCompile(`(?:`+before+`)$`), regexp.MustCompile(`^(?:`+after+`)`)
	}
	return shapes
}

// found is a shape in a line: a statement begins at start, and its value stands in the bytes from and to.
type found struct {
	shape           *shape
	start, from, to int
	overall         bool
	measure         measure
}

// look bounds the bytes before and behind a stem in which a shape must lie.
const look = 96

// candidates yields the shapes at a stem of the line, in order.
func (l *line) candidates(h hit) iter.Seq[found] {
	return func(yield func(found) bool) {
		word := h.at + len(h.stem)
		for word < len(l.lower) && inWord(l.lower[word]) {
			word++
		}
		labels := word < len(l.lower) && (l.lower[word] == ':' || l.lower[word] == '=')
		start, overall, own := l.leads(h.at)
		for i := range shapes {
			s := &shapes[i]
			if s.own && !own || labels && !s.labels || s.stems != "" && !s.mayStandAt(h.stem) {
				continue
			}
			f, ok := l.match(s, h.at)
			if s.own {
				f.start, f.overall = start, overall
			}
			if ok && !(s.method && isStatistical(l.lower)) && !yield(f) {
				return
			}
		}
	}
}

func (s *shape) mayStandAt(stem string) bool {
	for _, word := range s.words {
		if strings.HasPrefix(stem, word) || strings.HasPrefix(word, stem) {
			return true
		}
	}
	return false
}

func isStatistical(lower string) bool {
	for _, word := range statistics {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// match reports whether a shape has its mark at this offset.
func (l *line) match(s *shape, at int) (found, bool) {
	mark := at
	if s.noun {
		if at += nounAt(l.lower[at:]); at == mark {
			return found{}, false
		}
	}
	ahead := l.lower[at:runeStart(l.lower, min(len(l.lower), at+look+maxValue))]
	after := s.after.FindStringSubmatchIndex(ahead)
	if after == nil {
		return found{}, false
	}
	f := found{shape: s, start: mark, from: at + after[1], to: -1}
	f.measure = measureOf(s.after, after)
	if g := s.after.SubexpIndex("value"); g > 0 && after[2*g] >= 0 {
		f.from, f.to = at+after[2*g], at+after[2*g+1]
	}
	if s.own {
		return f, !isOpenSign(l.lower, at+after[1])
	}
	floor := max(0, mark-look)
	for floor < mark && !utf8.RuneStart(l.lower[floor]) {
		floor++
	}
	before := s.before.FindStringSubmatchIndex(l.lower[floor:mark])
	if before == nil || before[0] == 0 && floor > 0 { // ^ is the beginning of the line
		return found{}, false
	}
	f.start = floor + before[0]
	if s.whole {
		f.from, f.to = f.start, at+after[1]
	}
	for g, name := range s.before.SubexpNames() {
		if name == "value" && before[2*g] >= 0 {
			f.from, f.to = floor+before[2*g], floor+before[2*g+1]
		}
	}
	return f, true
}

// isOpenSign reports whether the sign that ends before an offset is "==" or ">=", which compares.
func isOpenSign(lower string, at int) bool {
	return at < len(lower) && lower[at] == '='
}

// measureOf returns what the remark behind a label says of the scale of its figures.
func measureOf(re *regexp.Regexp, at []int) measure {
	for g, name := range re.SubexpNames() {
		if name == "" || at[2*g] < 0 {
			continue
		}
		switch name {
		case "percent":
			return measure{of: 100}
		case "ten":
			return measure{of: 10}
		case "five":
			return measure{of: 5}
		}
	}
	return measure{}
}
