package a2a_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// plan is a thought.
const plan = "SECRET alpha beta gamma delta epsilon zeta eta theta, the plan of the customer is to fire Bob and then to sell all of it to ACME; " +
	"nobody in the office may hear of this before Friday, when the board meets in Geneva and signs the papers that Ms. Keller has drawn up."

func textPart(text string) string { return fmt.Sprintf(`{"kind":"text","text":%q}`, text) }

func markedPart(text string) string {
	return fmt.Sprintf(`{"text":%q,"metadata":{"adk_thought":true}}`, text)
}

// restater returns a frame with parts of one message or artifact, in all frames the same.
type restater func(parts string, isPiece bool) string

func restaters() map[string]restater {
	artifact := func(more string) restater {
		return func(parts string, isPiece bool) string {
			return envelopes["0.3"]("artifact-update", "", fmt.Sprintf(`%s,"artifact":{"artifactId":"a","parts":[%s]}%s,"append":%t`, ids, parts, more, isPiece))
		}
	}
	status := func(parts string, _ bool) string {
		return envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent","parts":[`+parts+`]}}`)
	}
	return map[string]restater{
		"an artifact": artifact(""), "an event's artifact": artifact(`,"metadata":{"adk_author":"a"}`), "a message": status,
		"a partial event's artifact": func(parts string, isPiece bool) string {
			return envelopes["1.0"]("", "artifactUpdate", fmt.Sprintf(`%s,"artifact":{"artifactId":"a","parts":[%s]},"metadata":{"adk_author":"a","adk_partial":%t}`, ids, parts, isPiece))
		},
		"a task's message": func(parts string, isPiece bool) string {
			if !isPiece {
				return status(parts, false)
			}
			return envelopes["0.3"]("message", "", `"messageId":"m","taskId":"t","role":"agent","parts":[`+parts+`]`)
		},
		"a snapshot's artifact": func(parts string, isPiece bool) string {
			if isPiece || strings.Contains(parts, "adk_thought") {
				return artifact(`,"metadata":{"adk_author":"a"}`)(parts, isPiece)
			}
			return envelopes["1.0"]("", "task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[`+parts+`]}]`)
		},
	}
}

// cut cuts a text into pieces of n bytes.
func cut(text string, n int) (pieces []string) {
	for ; len(text) > n; text = text[n:] {
		pieces = append(pieces, text[:n])
	}
	return append(pieces, text)
}

// inOne returns a frame with a part for each text.
func (r restater) inOne(part func(string) string, texts ...string) []string {
	var parts []string
	for _, text := range texts {
		parts = append(parts, part(text))
	}
	return []string{r(strings.Join(parts, ","), false)}
}

// inPieces returns a frame for each text. The frames after the first are pieces, and so is the first if the text is appended.
func (r restater) inPieces(part func(string) string, appended bool, texts ...string) (frames []string) {
	for i, text := range texts {
		frames = append(frames, r(part(text), appended || i > 0))
	}
	return frames
}

// marked returns frames that state the plan as a thought.
func (r restater) marked() map[string][]string {
	frames := map[string][]string{}
	for _, n := range []int{5, 10, 31, 32, 40, 64, 150, len(plan)} {
		frames[fmt.Sprintf("pieces of %d", n)] = r.inPieces(markedPart, false, cut(plan, n)...)
		frames[fmt.Sprintf("parts of %d", n)] = r.inOne(markedPart, cut(plan, n)...)
		var growing []string
		for i := n; i < len(plan); i += n {
			growing = append(growing, r(markedPart(plan[:i]), false))
		}
		frames[fmt.Sprintf("growing by %d", n)] = append(growing, r(markedPart(plan), false))
	}
	return frames
}

// unmarked returns frames that repeat the plan.
func (r restater) unmarked() map[string][]string {
	frames := map[string][]string{}
	for _, n := range []int{5, 10, 31, 32, 40, 64, 150} {
		frames[fmt.Sprintf("pieces of %d", n)] = r.inPieces(textPart, false, cut(plan, n)...)
		frames[fmt.Sprintf("pieces of %d, appended", n)] = r.inPieces(textPart, true, cut(plan, n)...)
		frames[fmt.Sprintf("parts of %d", n)] = r.inOne(textPart, cut(plan, n)...)
	}
	for name, text := range map[string]string{
		"the whole": plan, "a longer text": plan + " END", "a text around it": "This is the plan: " + plan + strings.Repeat(" And more.", 50),
		"the first half": plan[:130], "the first half, cut": plan[:130] + "…", "its beginning": plan[:60] + strings.Repeat(" And more.", 50), "the second half": plan[130:], "the second half, cut": "[cut] " + plan[130:] + ".", "the middle": plan[50:200],
		"other blanks": strings.NewReplacer(", ", ",\n", " b", "  b").Replace(plan), "in capitals": strings.ToUpper(plan), "invisible characters": strings.ReplaceAll(plan, "a", "a\u00ad"),
	} {
		frames[name] = r.inOne(textPart, text)
		frames[name+", appended"] = r.inPieces(textPart, true, text)
	}
	return frames
}

// longestShared returns the most bytes in a row that the plan and the texts of the frames share.
func longestShared(frames []string) (longest int) {
	var texts strings.Builder
	for _, frame := range frames {
		for _, after := range strings.Split(frame, `"text":"`)[1:] {
			text, _, _ := strings.Cut(after, `"`)
			texts.WriteString(strings.ToLower(text))
		}
	}
	for i := range plan {
		for n := longest + 1; i+n <= len(plan) && strings.Contains(texts.String(), strings.ToLower(plan[i:i+n])); n++ {
			longest = n
		}
	}
	return longest
}

// TestRestatedThoughts repeats a thought without its mark. Less than 64 bytes of it leave, and of a repeat in one frame
// less than 32.
func TestRestatedThoughts(t *testing.T) {
	for name, r := range restaters() {
		for first, marked := range r.marked() {
			for then, unmarked := range r.unmarked() {
				sent := strings.Join(append(marked[:len(marked):len(marked)], unmarked...), "\n\ndata: ")
				limit := 64
				if len(unmarked) == 1 {
					limit = 32
				}
				if n := longestShared(filterStream(t, public, "data: "+sent+"\n\n")); n >= limit {
					t.Errorf("%s, in %s, then %s: %d bytes leave", name, first, then, n)
				}
			}
		}
		short := slices.Concat(r.inOne(markedPart, plan[:53], plan[53:110]), r.inOne(textPart, "This is the plan: "+plan[:53]+strings.Repeat(" And more.", 50)))
		if n := longestShared(filterStream(t, public, "data: "+strings.Join(short, "\n\ndata: ")+"\n\n")); n >= 32 {
			t.Errorf("%s, one of two parts: %d bytes leave", name, n)
		}
	}
}

// TestAnswersAfterThoughts checks that an answer leaves beside, after and instead of a thought with the same id, although
// they have words in common.
func TestAnswersAfterThoughts(t *testing.T) {
	const answer = "Forty two is the answer. For more, ask the board: it meets in Geneva and signs the papers. The plan of the customer is on https://example.com/plan."
	thoughtless := filter.Settings{Policy: event.PolicyClient}
	for name, r := range restaters() {
		for first, marked := range r.marked() {
			for _, n := range []int{7, 23, 200} {
				answers := map[string][]string{"pieces": r.inPieces(textPart, false, cut(answer, n)...)}
				if strings.Contains(name, "event") || n == 200 && strings.Contains(name, "snapshot") { // in another artifact, a piece is a thought like the piece before
					answers["pieces, appended"] = r.inPieces(textPart, true, cut(answer, n)...)
				}
				for then, unmarked := range answers {
					sent := strings.Join(append(marked[:len(marked):len(marked)], unmarked...), "\n\ndata: ")
					for _, s := range []filter.Settings{public, thoughtless} {
						got := strings.Join(filterStream(t, s, "data: "+sent+"\n\n")[len(marked):], "")
						for _, text := range cut(answer, n) {
							if !strings.Contains(got, `"text":"`+text+`"`) {
								t.Errorf("%s, in %s, then %s of %d, under %s: %q does not leave", name, first, then, n, s.Policy, text)
							}
						}
					}
				}
			}
		}
	}
}

// TestManyTextsBesideThoughts sends frames of a megabyte that cost the most to compare. With more work than in proportion to
// their size, this takes longer than a test may.
func TestManyTextsBesideThoughts(t *testing.T) {
	long := strings.Repeat("abcdefghijklmnopqrstuvwxyz0123456789", 5000)
	for name, c := range map[string]struct{ marked, unmarked string }{
		"short texts":           {strings.Repeat(markedPart("ab")+",", 10_000), strings.Repeat(textPart("a")+",", 30_000)},
		"beginnings of texts":   {strings.Repeat(markedPart(long[:40])+",", 5000), strings.Repeat(textPart(long[:33]+"Z")+",", 15_000)},
		"parts of a long text":  {markedPart(long) + ",", strings.Repeat(textPart(long[5:50])+",", 15_000)},
		"others than the long":  {markedPart(long) + ",", strings.Repeat(textPart("Z"+long[36:50]+"Z"+long[:20])+",", 15_000)},
		"a text of small parts": {markedPart(long) + ",", textPart(strings.Repeat(long[:16]+"Z", 50_000)) + ","},
	} {
		r := restaters()["an artifact"]
		frames := []string{r(c.marked+textPart("x"), false), r(c.unmarked+textPart("x"), false)}
		if got := filterStream(t, public, "data: "+strings.Join(frames, "\n\ndata: ")+"\n\n"); len(got) != 2 {
			t.Errorf("%s: %d frames", name, len(got))
		}
	}
}
