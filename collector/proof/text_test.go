package proof

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// roomy are limits that no test reaches by accident.
var roomy = Limits{MaxText: 64 << 10, MaxFindings: 32}

func ratio(value float64) event.Confidence {
	return event.Confidence{Value: value, Known: true, Origin: event.OriginText}
}

func scoped(value float64, scope string) event.Confidence {
	c := ratio(value)
	c.Scope = scope
	return c
}

func labelled(value float64, label string) event.Confidence {
	c := ratio(value)
	c.Label = label
	return c
}

func worded(label string) event.Confidence {
	return event.Confidence{Label: label, Origin: event.OriginText}
}

// between returns a range with its label as written.
func between(low, high float64, label string) event.Confidence {
	c := worded(label)
	if low > 0 {
		c.Low = event.Ratio{Value: low, Known: true}
	}
	if high > 0 {
		c.High = event.Ratio{Value: high, Known: true}
	}
	return c
}

func overall(value float64) event.Confidence {
	c := ratio(value)
	c.Overall = true
	return c
}

func inScope(scope string, c event.Confidence) event.Confidence {
	c.Scope = scope
	return c
}

func about(topic string, c event.Confidence) event.Confidence {
	c.Topic = topic
	return c
}

func source(text string) event.Citation {
	return event.Citation{Source: text, Origin: event.OriginText}
}

func dated(text, date string) event.Citation {
	c := source(text)
	c.Reference = date
	return c
}

func linked(text, uri string) event.Citation {
	c := source(text)
	c.URI = uri
	return c
}

type confidences = []event.Confidence
type citations = []event.Citation

// briefing holds the texts of agents in testdata/briefing.md.
var briefing = []struct {
	text string
	want Findings
}{
	{
		"### 1. Summary\n...\n### 5. Confidence & Source\n**Confidence:** 92%\n**Source:** MTBS, Imagery date: 2022-09-15\n",
		Findings{Confidences: confidences{ratio(0.92)}, Citations: citations{dated("MTBS, Imagery date: 2022-09-15", "2022-09-15")}},
	},
	{
		"### 1. Summary\n...\n### 4. Confidence & Source\n**Confidence:** 90%\n**Source:** Cedar Creek field assessment 2022-10-25\n",
		Findings{Confidences: confidences{ratio(0.9)}, Citations: citations{dated("Cedar Creek field assessment 2022-10-25", "2022-10-25")}},
	},
	{
		"### 1. Summary\n...\n### 5. Confidence & Source\n**Confidence:** 92%\n**Source:** MTBS\n",
		Findings{Confidences: confidences{ratio(0.92)}, Citations: citations{source("MTBS")}},
	},
	{
		"**Confidence:** 90%\n**Source:** MTBS\n...",
		Findings{Confidences: confidences{ratio(0.9)}, Citations: citations{source("MTBS")}},
	},
	{
		"**Fire Severity:** ... (Confidence: 92%)\n\n**Infrastructure Damage:** ... (Confidence: 90%)\n\n**Timber Salvage:** ... (Confidence: 91%)\n\n**NEPA Pathway:** ... (Confidence: 95% for timber, 90% for trails)\n\n**Overall Confidence:** 90%\n\n**Recommended Actions:**\n1. Deploy BAER team...\n2. Establish hazard zones...\n...",
		Findings{Confidences: confidences{
			about("Fire Severity", ratio(0.92)), about("Infrastructure Damage", ratio(0.9)), about("Timber Salvage", ratio(0.91)),
			about("NEPA Pathway", scoped(0.95, "timber")), about("NEPA Pathway", scoped(0.9, "trails")), overall(0.9),
		}},
	},
	{
		"**Fire Severity:** ... (Confidence: 92%)\n\n**Overall Confidence:** 90%\n...",
		Findings{Confidences: confidences{about("Fire Severity", ratio(0.92)), overall(0.9)}},
	},
	{
		"**Fire Severity:** ... (Confidence: 92%)\n**Infrastructure Damage:** ... (Confidence: 90%)\n**Timber Salvage:** ... (Confidence: 91%)\n**Overall Confidence:** 90%\n**Recommended Actions:**\n1. Deploy BAER team...\n",
		Findings{Confidences: confidences{
			about("Fire Severity", ratio(0.92)), about("Infrastructure Damage", ratio(0.9)), about("Timber Salvage", ratio(0.91)), overall(0.9),
		}},
	},
	{
		"**Confidence:** 91%\n**Source:** Cedar Creek timber plot data, PNW salvage deterioration models, Regional market analysis 2025",
		Findings{Confidences: confidences{ratio(0.91)}, Citations: citations{
			source("Cedar Creek timber plot data"), source("PNW salvage deterioration models"), source("Regional market analysis 2025"),
		}},
	},
	{
		"**Confidence:** High (90%) - Direct CFR citations\n**Confidence:** High (95%) - Direct CFR and FSM citations",
		Findings{Confidences: confidences{labelled(0.9, "high"), labelled(0.95, "high")}, Citations: citations{
			source("Direct CFR citations"), source("Direct CFR and FSM citations"),
		}},
	},
	{
		"### 5. Confidence & Source\n**Confidence:** 92%\n**Source:** MTBS, Imagery date: 2022-09-15\n\n### 4. Recommendations\n- Deploy BAER team...\n\n### 3. Priority Areas\n- CORE-1: Central Fire Origin (HIGH severity)\n",
		Findings{Confidences: confidences{ratio(0.92)}, Citations: citations{dated("MTBS, Imagery date: 2022-09-15", "2022-09-15")}},
	},
	{"**Regulatory Basis:** 36 CFR 220.6(e)(13)", Findings{Citations: citations{source("36 CFR 220.6(e)(13)")}}},
	{"**Regulatory Basis:** 36 CFR 220.6", Findings{Citations: citations{source("36 CFR 220.6")}}},
	{"Give me a recovery briefing for Cedar Creek Fire", Findings{}},
	{"fire_id:cedar-creek-2022", Findings{}},
}

// TestBriefing checks the texts of agents, with both kinds of line ends.
func TestBriefing(t *testing.T) {
	for _, test := range briefing {
		expect(t, test.text, test.want)
		expect(t, strings.ReplaceAll(test.text, "\n", "\r\n"), test.want)
	}
}

func expect(t *testing.T, text string, want Findings) {
	t.Helper()
	if got := Text([]byte(text), roomy); !reflect.DeepEqual(got, want) {
		t.Errorf("%q\n got %+v\nwant %+v", text, got, want)
	}
}

// TestDocument checks a document about confidence: quotes, code, tables and headings without findings, and a
// few blocks with findings.
func TestDocument(t *testing.T) {
	document, err := os.ReadFile("testdata/briefing.md")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	found := Text(document, roomy)
	for _, c := range found.Confidences {
		fmt.Fprintf(&got, "%+v\n", c)
	}
	for _, c := range found.Citations {
		fmt.Fprintf(&got, "%+v\n", c)
	}
	if *update {
		if err := os.WriteFile("testdata/briefing.golden", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/briefing.golden")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// TestConfidence checks the confidences in texts.
func TestConfidence(t *testing.T) {
	for text, want := range map[string]confidences{
		// The shapes of answers.
		"**Confidence:** 92%":                                     {ratio(0.92)},
		"**Confidence:** High (90%) - Direct":                     {labelled(0.9, "high")},
		"(Confidence: 95% for timber, 90% for trails)":            {scoped(0.95, "timber"), scoped(0.9, "trails")},
		"**Overall Confidence:** 90%":                             {overall(0.9)},
		"42% of area (Confidence: 92%)":                           {ratio(0.92)},
		"Confidence: 88.5 %":                                      {ratio(0.885)},
		"**Confidence**: 0.92":                                    {ratio(0.92)},
		"Confidence Score: 0.92":                                  {ratio(0.92)},
		"**Confidence Level:** very high":                         {worded("very high")},
		"**Confidence:** Moderate":                                {worded("moderate")},
		"**Confidence:** High (90%) - covers 40% of area":         {labelled(0.9, "high")},
		"**Confidence:** High (90%) - see map, 80% for trails":    {labelled(0.9, "high"), scoped(0.8, "trails")},
		"Confidence: 85% (95% for timber, 80% for trails)":        {ratio(0.85), scoped(0.95, "timber"), scoped(0.8, "trails")},
		"Confidence: 95% for timber and 90% for trails":           {scoped(0.95, "timber"), scoped(0.9, "trails")},
		"Confidence: 95% for timber, 90% overall, 80% in general": {scoped(0.95, "timber"), ratio(0.9)},
		"Confidence: High for timber, low for trails": {
			{Label: "high", Scope: "timber", Origin: event.OriginText}, {Label: "low", Scope: "trails", Origin: event.OriginText},
		},
		"Timber (Confidence: 91%), trails (Confidence: 90%)": {ratio(0.91), ratio(0.9)},
		// Markup and variants.
		"__Confidence:__ 92%":                         {ratio(0.92)},
		"**Confidence: 92%**":                         {ratio(0.92)},
		"***Confidence:*** **92%**":                   {ratio(0.92)},
		"Confidence：92％":                              {ratio(0.92)},
		"**Confidence:**\u00a092\u202f%":              {ratio(0.92)},
		"\ufeff**Confidence:**\u200b 92%":             {ratio(0.92)},
		"CONFIDENCE: 92 percent":                      {ratio(0.92)},
		"- **Confidence:** 92%":                       {ratio(0.92)},
		"## Confidence = 0.92":                        {ratio(0.92)},
		"**Confidence:** `92%`":                       {ratio(0.92)},
		"**Confidence:** 🟢 High (92%)":                {labelled(0.92, "high")},
		"**Confidence:** 🔴 Low (12%)":                 {labelled(0.12, "low")},
		"**Confidence:** 🔵 92%":                       {ratio(0.92)},
		"**Confidence:** ~92% (high)":                 {labelled(0.92, "high")},
		"**Confidence:** about 92%":                   {ratio(0.92)},
		"**Confidence:** 92% ± 3%":                    {ratio(0.92)},
		"**Confidence:** 92% - High":                  {labelled(0.92, "high")},
		"| **Confidence** | 92% |":                    {ratio(0.92)},
		"| **Timber:** salvage (Confidence: 91%) | x": {about("Timber", ratio(0.91))},
		"**Timber**: salvage. Final confidence: 91%":  {about("Timber", overall(0.91))},
		"**Water Resources:** low (Confidence: 91%)":  {about("Water Resources", ratio(0.91))},
		"**Source:** MTBS **Confidence:** 92%":        {ratio(0.92)},
		"The final word (total confidence: 92%)":      {overall(0.92)},
		"```markdown\n**Confidence:** 92%\n```":       {ratio(0.92)},
		"```\ncode\n```\nConfidence: 92%":             {ratio(0.92)},
		"Confidence: 92%\u2028Confidence: 91%\r0\v1":  {ratio(0.92), ratio(0.91)},
		"x\rConfidence: 92%":                          {ratio(0.92)},
		"```a``` b\nConfidence: 92%":                  {ratio(0.92)},
		"~~~`\nx\n~~~\nConfidence: 92%":               {ratio(0.92)},
		"-Confidence: 92%; so -Confidence: 91%":       {ratio(0.92), ratio(0.91)},
		"(see (b), Confidence: 92%) for x":            {ratio(0.92)},
		"**Note** on it (Confidence: 92%)":            {ratio(0.92)},
		"**A:** x_y* __B:__ z (Confidence: 92%)":      {about("B", ratio(0.92))},
		"Confidence: 92% validated by plots":          {ratio(0.92)},
		"Confidence: 92% forest":                      {ratio(0.92)},
		"Confidence: .92":                             {ratio(0.92)},
		"Confidence: 9\ufeff2\u2060%":                 {ratio(0.92)},
		"Confidence: High – 92%":                      {labelled(0.92, "high")},
		"Confidence: High — 92%":                      {labelled(0.92, "high")},
		"Confidence: High - 92%":                      {labelled(0.92, "high")},
		"Confidence: Very-High":                       {worded("very-high")},
		"Confidence: Low/Medium":                      {worded("low/medium")},
		"Confidence: High - Low severity":             {worded("high")},
		"Confidence: 95% for timber, 40% burned":      {scoped(0.95, "timber")},
		"Confidence: 95% for timber and trails. Yes.": {scoped(0.95, "timber and trails")},
		"Confidence: 95% for v1.2 plots - all":        {scoped(0.95, "v1.2 plots")},
		"Confidence: 95% for timber – all (x)":        {scoped(0.95, "timber")},
		"Confidence: 95% for timber.":                 {scoped(0.95, "timber")},
		"Confidence: \xff92%":                         {ratio(0.92)},
		"Confidence: 0%, (Confidence: 100%)":          {ratio(0), ratio(1)},
		// Ranges have two bounds and no value. Scores become ratios.
		"Confidence: 85-90%":                  {between(0.85, 0.9, "85-90%")},
		"Confidence: 85%-90":                  {between(0.85, 0.9, "85%-90")},
		"Confidence: (85-90%) for timber":     {inScope("timber", between(0.85, 0.9, "85-90%"))},
		"Confidence: 85% - 90% burned":        {ratio(0.85)},
		"Confidence: 92% - 40 plots":          {ratio(0.92)},
		"Confidence: 85% – 90% for timber":    {inScope("timber", between(0.85, 0.9, "85% – 90%"))},
		"Confidence: between 0.85 and 0.9":    {between(0.85, 0.9, "between 0.85 and 0.9")},
		"Confidence: High (85-90%) - field":   {between(0.85, 0.9, "high (85-90%)")},
		"Confidence: > 90%":                   {between(0.9, 0, "> 90%")},
		"Confidence: At least 90%":            {between(0.9, 0, "at least 90%")},
		"Confidence: 90%+":                    {between(0.9, 0, "90%+")},
		"Confidence: 9/10":                    {labelled(0.9, "9/10")},
		"Confidence: 8.5 out of 10":           {labelled(0.85, "8.5 out of 10")},
		"Confidence: Medium-High":             {worded("medium-high")},
		"Confidence: moderate to high":        {worded("moderate to high")},
		"Confidence: 92% - 40% of it visited": {ratio(0.92)},
	} {
		if got := Text([]byte(text), roomy); !reflect.DeepEqual(got.Confidences, want) {
			t.Errorf("%q\n got %+v\nwant %+v", text, got.Confidences, want)
		}
	}
}

// TestNoConfidence checks texts without a confidence of the answer.
func TestNoConfidence(t *testing.T) {
	for _, text := range []string{
		"### 5. Confidence & Source", "Confidence", "Confidence:", "Confidence:\nand 92%", "Confidence: N/A", "Confidence: not assessed",
		"Confidence: 101%", "Confidence: 100.1%", "Confidence: 1000%", "Confidence: -5%", "Confidence: High5%", "Confidence: 92%25", "Confidence: 95th percentile",
		"Confidence: 1,000%", "Confidence: 1.2.3", "Confidence: 1.5", "Confidence: 0.9x", "Confidence: 1e-1",
		"Confidence: 10", "Confidence: 1", "Confidence: 92 plots", "Confidence: 1 of 3 plots", "Confidence: 1/2 acre", "Confidence: NaN", "Confidence: ９２%",
		"Confidence: 85-101%", "Confidence: 101-105%", "Confidence: 0050%", "Confidence: 0.1234567890123", "Confidence: 0.92,5", "Confidence: 0.92.5",
		"Confidence: 0.5/5 acres", "Confidence: 6/5", "Confidence: 0.9 of 3 acres", "totalconfidence: 92%",
		"Confidence: 95% confidence intervals", "Confidence: 95% confidence limit", "Confidence: 95% confidence limits", "Confidence: 95% confidence band", "Confidence: 95% confidence region",
		"confidence interval: 95% CI", "95% confidence interval: 3%", "Confidence: 95% CI", "Confidence: 95% confidence interval", "at 95% confidence: 12%",
		"high confidence that 40% burned", "no confidence", "No confidence: 40%", "Low confidence: 12% of pixels", "low-confidence: 12%",
		"Confidence: Based on a 40% sample", "Confidence: N/A (only 40% surveyed)", "Confidence: unknown, 40% burned", "Confidence: 40% of area",
		"Confidence: High severity", "Confidence: highly variable", "Confidence: low-lying areas", "overconfidence: 92%", "self_confidence: 0.92", "confidences: 92%",
		"https://x.org/?a=(Confidence:92%)", "https://x.org/a-Confidence:92%", "https://x.org/_Confidence: 92%", `{"min_confidence": 0.92}`, "a.confidence = 0.92",
		"```\nConfidence: 92%\n```", "~~~ go\n// Confidence: 92%\n~~~", "````\n```\nConfidence: 92%\n```\n````", "```python\nConfidence: 92%", "> ```\n> Confidence: 92%\n> ```",
		"Write `**Confidence:** 92%` there", "`Use Confidence: 92%`", `const m = result.match(/\*\*Confidence:\*\*\s*(\d+)%/);`, "confidence == 0.92", "confidence >= 0.92",
		"**Consumer** confidence: 61%", "> Confidence: 92%",
	} {
		if got := Text([]byte(text), roomy); got.Confidences != nil {
			t.Errorf("Text(%q) has the confidences %+v, want none", text, got.Confidences)
		}
	}
}

// TestWordWithoutNumber checks that a rating is kept without a number that belongs to something else.
func TestWordWithoutNumber(t *testing.T) {
	for text, want := range map[string]string{
		"Confidence: High - covers 40% of area":  "high",
		"Confidence: High, 40% burned":           "high",
		"Confidence: High (40% of plots seen)":   "high",
		"Confidence: Low because 40% is missing": "low",
		"Confidence: High (-5%)":                 "high",
		"Confidence: High (101%)":                "high",
	} {
		expect(t, text, Findings{Confidences: confidences{worded(want)}})
	}
}

// TestNothingInvented checks that no value is found in texts without their digits.
func TestNothingInvented(t *testing.T) {
	digits := regexp.MustCompile(`[0-9]+`)
	for _, test := range briefing {
		for _, with := range []string{"", "N", "**", " ", "-", ".", "ninety"} {
			text := digits.ReplaceAllLiteralString(test.text, with)
			for _, c := range Text([]byte(text), roomy).Confidences {
				if c.Known || c.Value != 0 {
					t.Errorf("Text(%q) has the confidence %+v, want no value", text, c)
				}
			}
		}
	}
}
