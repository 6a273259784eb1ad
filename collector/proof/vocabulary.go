package proof

import (
	"regexp"
	"strings"
)

// The vocabulary of the expressions, in lower case. Each fragment is a regular expression in a group of its own.
const (
	// aspect may follow a noun without making another thing of it, as "interval", "index" and "vote" do.
	aspect = `(?:[ _-]?(?:scores?|levels?|ratings?|assessment|estimate|value|percentage))?` +
		`(?: of (?:the )?evidence| by [a-z]+| (?:&|and) (?:reasoning|rationale|evidence|justification))?`

	// object is what a confidence is in, where that is the answer at hand.
	object = `(?: (?:in|of|for|about|regarding|on) (?:(?:this|these|my|our)\b|the (?:above|following|answer|result|response|diagnosis|estimate|` +
		`assessment|analysis|conclusion|findings?|forecast|recommendation|classification|translation)\b)[^:=|()]*)?`

	// foreign is the same in other languages.
	foreign = ` (?:dieser|der|in diese|in die|dans cette|de cette|en esta|de esta|nesta|desta|in questa|di questa|van dit|in dit) ` +
		`(?:antwort|aussage|einschätzung|réponse|respuesta|resposta|risposta|antwoord)`

	// scale is the remark that says what a figure is measured on.
	scale = `(?:[ ]?[(（](?:(?P<percent>%|in %|0 ?[-–—] ?100 ?%?)|(?P<ten>[01] ?[-–—] ?10|/ ?10|out of 10)|(?P<five>[01] ?[-–—] ?5|/ ?5|out of 5)|0 ?[-–—] ?1(?:\.0)?|[^()（）]*)[)）])?`

	// sign parts a label from its value.
	sign = `(?:[ ]?[:：=][ ]*| ?[→≈] ?| ~ ?| [-–—] |[ ]?[–—][ ]|为|是|は|는 |은 )`

	number  = `(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)`
	percent = `(?: ?(?:%|％|percent\b|per cent\b|prozent\b|pour ?cent\b|por ciento\b|por cento\b|per cento\b|procent\b|퍼센트))`
	roughly = `(?:(?:~|≈|about|approximately|approx\.?|around|roughly|only|nearly|circa|ca\.|etwa|rund|environ|cerca del?|un|约|約|약) ?)`

	// figures are what stands for a percentage within a sentence.
	figures = `(?P<value>` + roughly + `*` + number + percent + `?(?: ?(?:-|–|—|to) ?` + number + `)?` + percent + `)`

	// ranks are the words for how high a confidence is.
	ranks = `(?:high|medium|moderate|low|hoch|hohe|mittel|mittlere|mäßig|niedrig|gering|élevée?|haute?|moyenne?|modérée?|faible|basse|` +
		`alt[ao]|medi[ao]|médi[ao]|moderad[ao]|moderat[ao]|baj[ao]|baix[ao]|bass[ao]|hoog|hoge|gemiddeld|matig|laag|lage|` +
		`中高|中低|中等|中程度|高い|高め|高|中|低い|低め|低|높음|높은|높다|중간|보통|낮음|낮은)`

	// degrees stand before a rank.
	degrees = `(?:(?:very|extremely|fairly|reasonably|relatively|quite|rather|sehr|eher|ziemlich|recht|très|assez|plutôt|muy|bastante|` +
		`muito|molto|abbastanza|piuttosto|zeer|vrij|redelijk|매우)[ -]|非常に|非常|极|很|较|比较|やや|かなり|とても)?`

	// level is one rank; words stand for what may be one, for readValue to judge.
	level = degrees + ranks
	words = `(?:[a-z]+(?:[ /-][a-z]+)*?)`

	// sureness is the word for sure of a first person, with the verb and the adverb before it.
	sureness = `(?:confident|certain|sure)\b`
	verb     = `\b(?:i|we)(?:'m|’m| am|'re|’re| are) `
	degree   = `(?:very|highly|quite|fairly|reasonably|extremely|moderately|somewhat|pretty)`
)

// nouns name confidence as the label of a value does. ⟨noun⟩ stands for them in the expressions of shapes, behind the mark.
var nouns = []string{
	"confidence", "certainty",
	"konfidenzniveau", "konfidenzwert", "konfidenzgrad", "konfidenzscore", "konfidenzstufe", "konfidenz", "zuversicht", "gewissheit",
	"vertrauensgrad", "vertrauenswert", "vertrauensniveau", "vertrauensscore", "vertrauen", "sicherheitsgrad", "sicherheit",
	"confiance", "certitude", "confianza", "certeza", "confiança", "fiducia", "confidenza", "certezza", "affidabilità", "attendibilità",
	"betrouwbaarheidsscore", "betrouwbaarheidsniveau", "betrouwbaarheid", "zekerheid", "vertrouwensniveau", "vertrouwensscore", "vertrouwen",
	"置信度", "信心指数", "信心程度", "信心度", "信心", "可信度", "把握程度", "把握度", "把握", "确信度",
	"信頼度", "信頼スコア", "確信度", "確度", "自信度", "신뢰도", "신뢰 수준", "신뢰 점수", "확신도", "확신 수준", "확신 정도", "확신",
}

// nounAt returns the length of the noun that s, in lower case, begins with, 0 for none.
func nounAt(s string) int {
	for _, noun := range nounsByByte[s[0]] {
		if strings.HasPrefix(s, noun) {
			return len(noun)
		}
	}
	return 0
}

var nounsByByte = func() (table [256][]string) {
	for _, noun := range nouns {
		table[noun[0]] = append(table[noun[0]], noun)
	}
	return table
}()

// ownWords may stand before a label without making it another's: "my", "the model's", but not "consumer" or "Dr. Smith's".
var ownWords = wordSet(`
	overall aggregate total final combined my our answer model model's prediction classification estimated estimate diagnostic diagnosis
	assessment analysis forecast response output match matching detection extraction identification recognition ocr translation inference the this level degree score rating of
	gesamte gesamt meine niveau indice score degré taux de global globale ma mon confiance
	nivel grado puntuación mi índice nível grau pontuação minha livello grado di punteggio mia mijn
	この回答の 本回答の 回答の 全体の 総合 总体 整体 综合 回答 答案 이 답변의 답변에 대한 전체 답변 我的 我对此的 对此的
`)

// illustrations stand right before a label that is shown and not stated: an example, a form, another's words.
var illustrations = []string{
	"example", "e.g.", "e.g", "such as", "format", "template", "said", "says", "wrote", "report", "reports", "reported", "previous", "previously",
	"zum beispiel", "z. b.", "z.b.", "par exemple", "por ejemplo", "por exemplo", "ad esempio", "bijvoorbeeld", "例如", "例えば",
}

// isIllustrated reports whether what stands before a label says that it is shown and not stated.
func isIllustrated(before string) bool {
	before = strings.TrimRight(before, " :,：，([\"'")
	for _, word := range illustrations {
		if strings.HasSuffix(before, word) {
			return true
		}
	}
	return false
}

// conditional is what stands before a sentence that supposes, asks or reports and does not state.
var conditional = regexp.MustCompile(`(?:^|[ "(])(?:if|when|whenever|unless|until|suppose|once|whether|says?|said|that|wenn|falls|si|se|als|cuando|quando) [^.;!?]*$`)

// reported is what makes a sentence another's.
var reported = regexp.MustCompile(`^[^.!?]*\b(?:he|she|they) (?:said|says|wrote|added|told)\b`)

// elsewhere is a place, a time, a group or an authority that a sentence begins with, of which what follows then speaks.
var elsewhere = regexp.MustCompile(`(?:^|[.!?] )[ \-*•]*(?:in|among|amongst|across|throughout|since|unter|bei|seit|laut|dans|en|chez|parmi|entre|depuis|selon|` +
	`no|na|nos|nas|nel|nella|negli|tra|fra|onder|sinds|volgens|according to|según|secondo|segundo) ([^,;:.!?]+?) *[,;–—]? *$`)

// ofAnswer are the words of such a beginning that speaks of the answer itself.
var ofAnswer = regexp.MustCompile(`\b(?:this|these|that|such|my|our|us|summary|sum|short|brief|conclusion|total|all|general|view|opinion|judge?ment|case|particular|addition|` +
	`dies\w*|mein\w*|zusammenfassung|kürze|summe|ganzen|allgemein\w*|r[eé]sum\w*|conclusi[oó]n|ce|cet|cette|mon|général|este|esta|general|mi|` +
	`questa|sintesi|conclusione|mia|dit|deze|kort|samenvatting|mijn)\b`)

// firstPerson makes a statement the answer's, wherever it is made.
var firstPerson = regexp.MustCompile(`\b(?:i|we|my|our|ich|mein\w*|mon|ma|mi|mia|minha|mijn)\b`)

// choices are levels to choose from.
var choices = regexp.MustCompile(`^ ?[,|/] ?(?:or |and )?(?:high|medium|moderate|low)\b`)

// statistics are words of statements about samples and risks, in which confidence is a term of method.
var statistics = []string{
	"margin of error", "sample", "interval", "z-score", "z =", "p-value", "p =", "p <", "significan", "hypothesis", "population", "true mean",
	"the mean", "true proportion", "alpha", "var ", "var)", "(var", "value at risk", "t-test", "null", "stichprobe", "échantillon", "muestra",
	"표본", "모집단", "reliability", "percentile",
}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
