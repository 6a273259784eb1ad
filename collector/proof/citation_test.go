package proof

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestCitation checks the citations in texts.
func TestCitation(t *testing.T) {
	for text, want := range map[string]citations{
		"**Source:** MTBS":                                  {source("MTBS")},
		"**Source**: MTBS":                                  {source("MTBS")},
		"__Sources:__ MTBS":                                 {source("MTBS")},
		"**Source(s):** MTBS":                               {source("MTBS")},
		"**Source: MTBS**":                                  {source("MTBS")},
		"Source: **MTBS**":                                  {source("MTBS")},
		"Source: `data/fire_sectors_`":                      {source("data/fire_sectors_")},
		"Source: **MTBS** and **NIFC**":                     {source("**MTBS** and **NIFC**")},
		"SOURCE：MTBS":                                       {source("MTBS")},
		"  > 1. Source: MTBS":                               {source("MTBS")},
		"(Source: MTBS (USGS)) and more":                    {source("MTBS (USGS)")},
		"regulatory basis: 36 CFR 220.6(e)(13), (14)":       {source("36 CFR 220.6(e)(13), (14)")},
		"**Regulatory\u00a0Basis:** 36 CFR 220.6, FSM 2430": {source("36 CFR 220.6"), source("FSM 2430")},
		"**Confidence:** 92% | **Source:** MTBS | 2022":     {source("MTBS")},
		"text. **Source:** MTBS (Confidence: 92%)":          {source("MTBS")},
		"**Source:** MTBS\u200b,\u00a0Imagery\tdate: x\x00": {source("MTBS, Imagery date: x")},
		"**Source:** M\xffTBS \u202egnihton":                {source("M\ufffdTBS gnihton")},
		"| Source | MTBS |":                                 {source("MTBS")},
		"Source:**A** and **B**":                            {source("**A** and **B**")},
		"Source: **MTBS":                                    {source("MTBS")},
		"Source: _MTBS":                                     {source("_MTBS")},
		"Source: \u200eM\u200f\u202aT\u2066B\u2069S":        {source("MTBS")},
		"**Source:** 1) MTBS 2) NIFC":                       {source("1) MTBS 2) NIFC")},
		"Source: Public confidence: a survey":               {source("Public confidence: a survey")},
		"| Source | MTBS |\n| Date | 2022 |":                {source("MTBS")},
		// Only a list is split.
		"Source: A, , B":                  {source("A"), source("B")},
		"Source: A, B, and C":             {source("A, B, and C")},
		"Source: MTBS (USGS, USFS), NIFC": {source("MTBS (USGS, USFS)"), source("NIFC")},
		"Source: USGS, 2022":              {source("USGS, 2022")},
		"Source: A,B, ,C":                 {source("A,B, ,C")},
		"Source: A, B: C, D":              {source("A, B: C, D")},
		"Source: 林野庁, 気象庁":                {source("林野庁"), source("気象庁")},
		// Dates and links in sources.
		"Source: MTBS 2022-09-15T10:00:00Z, see 2021-01-01": {dated("MTBS 2022-09-15T10:00:00Z, see 2021-01-01", "2022-09-15")},
		"Source: A 2022-09-15, B 2022-10-25":                {dated("A 2022-09-15", "2022-09-15"), dated("B 2022-10-25", "2022-10-25")},
		"Source: no 2022-13-01, 2022-00-01, 2022-10-32, 2022-10-00, 2022/10-01, 2022-10/01, 12022-09-15, 2022-09-155": {source("no 2022-13-01, 2022-00-01, 2022-10-32, 2022-10-00, 2022/10-01, 2022-10/01, 12022-09-15, 2022-09-155")},
		"Source: [MTBS](https://mtbs.gov/a_(b)?c=1), x.":                                                              {linked("[MTBS](https://mtbs.gov/a_(b)?c=1), x.", "https://mtbs.gov/a_(b)?c=1")},
		"Source: <HTTP://mtbs.gov/>; https://x.org.":                                                                  {linked("<HTTP://mtbs.gov/>", "HTTP://mtbs.gov/"), linked("https://x.org", "https://x.org")},
		"Source: https://mtbs.gov/data.":                                                                              {linked("https://mtbs.gov/data.", "https://mtbs.gov/data")},
		// Sources after a rating.
		"Confidence: High (90%) — 36 CFR 220.6":                             {source("36 CFR 220.6")},
		"(Confidence: Moderate, 75% - plots (n=40) of 2022-10-25) and more": {dated("plots (n=40) of 2022-10-25", "2022-10-25")},
		"Confidence: High (85-90%) - Direct CFR citations":                  {source("Direct CFR citations")},
		"Confidence: High (90%) - a - b":                                    {source("a - b")},
		"Confidence: High (90%)- a":                                         nil,
		"Confidence: High (90%) -a":                                         nil,
		"Confidence: 90% - Direct CFR citations":                            nil,
		"Confidence: High - Direct CFR citations":                           nil,
		// Lists below a label.
		"**Sources:**\n\n- MTBS, Imagery date: 2022-09-15\n* NIFC\n2. A, B\nend\n- not one": {
			dated("MTBS, Imagery date: 2022-09-15", "2022-09-15"), source("NIFC"), source("A, B"),
		},
		"**Sources:**\n- 2022-01-31\n- 2022-12-01\n- https://x.org/ or http://y.org/\n- http://x.org/ or https://y.org/": {
			dated("2022-01-31", "2022-01-31"), dated("2022-12-01", "2022-12-01"),
			linked("https://x.org/", "https://x.org/"), linked("http://y.org/", "http://y.org/"),
			linked("http://x.org/", "http://x.org/"), linked("https://y.org/", "https://y.org/"),
		},
		"**Sources:**\n2022": nil,
		"**Sources:**\n- MTBS\n- **Confidence:** 92%\n- x": {source("MTBS")},
		// Several links are several sources.
		"Sources: [MTBS](https://mtbs.gov), [NIFC](https://nifc.gov/a) and [FSM](https://fs.usda.gov)": {
			linked("MTBS", "https://mtbs.gov"), linked("NIFC", "https://nifc.gov/a"), linked("FSM", "https://fs.usda.gov"),
		},
		"Source: MTBS https://mtbs.gov, NIFC (https://nifc.gov)":     {linked("MTBS https://mtbs.gov", "https://mtbs.gov"), linked("NIFC (https://nifc.gov)", "https://nifc.gov")},
		"## Sources\n\n- [MTBS](https://mtbs.gov)\n- NIFC":           {linked("MTBS", "https://mtbs.gov"), source("NIFC")},
		"### References\n1. Smith et al. 2019\n2. FSM 2430\n\nEnd":   {source("Smith et al. 2019"), source("FSM 2430")},
		"**References**\n[1] Smith 2019\n[2] https://x.org/a":        {source("Smith 2019"), linked("https://x.org/a", "https://x.org/a")},
		"References:\n- A\n- B":                                      {source("A"), source("B")},
		"The ridge burned.[^1]\n\n[^1]: MTBS, https://mtbs.gov/2022": {linked("MTBS, https://mtbs.gov/2022", "https://mtbs.gov/2022")},
		"\n[^π]: MTBS": {source("MTBS")},
		"## Sources & References\n- A\n\n## Next\n- not one": {source("A")},
	} {
		if got := Text([]byte(text), roomy); !reflect.DeepEqual(got.Citations, want) {
			t.Errorf("%q\n got %+v\nwant %+v", text, got.Citations, want)
		}
	}
}

// TestNoCitation checks texts that cite nothing.
func TestNoCitation(t *testing.T) {
	for _, text := range []string{
		"Source: English → German", "**Source:** de -> en", "The references:\n- a", "See the references\n- a", "Source", "Source:", "**Source:** ...", "**Source:** N/A", "**Sources:** *None*", "Source: Unknown.", "Source: -", "Regulatory Basis: n/a",
		"Resource: MTBS", "Data source: MTBS", "The source: MTBS", "Open source: yes", "Source code: main.go", "Sources of error: plots", "source = MTBS",
		". Source: MTBS", "`**Source:** MTBS`", "```yaml\nsource: MTBS\n```", "https://x.org/**Source:** MTBS", "**Basis:** 36 CFR",
		"| Source | Date |\n|---|---|\n| MTBS | 2022-09-15 |", "| Source | Date | Note |\n| MTBS | 2022 | x |",
	} {
		if got := Text([]byte(text), roomy); got.Citations != nil {
			t.Errorf("Text(%q) has the citations %+v, want none", text, got.Citations)
		}
	}
}

// TestSourceWithoutName checks that words like "none" are no source.
func TestSourceWithoutName(t *testing.T) {
	for words := range nameless {
		expect(t, "**Source:** "+strings.ToUpper(words)+".", Findings{})
	}
}

// TestValueIsBounded checks that a value is cut between runes.
func TestValueIsBounded(t *testing.T) {
	for spaces := range 4 {
		text := "Confidence: 92%" + strings.Repeat(" ", valueWindow-20-spaces) + "for " + strings.Repeat("é", 99)
		checkFindings(t, Text([]byte(text), roomy), roomy, event.OriginText)
		if got := Text([]byte(text), roomy).Confidences[0].Scope; len(got) < 12 || len(got) > 16 {
			t.Errorf("the scope is %q, want 12 to 16 bytes", got)
		}
	}
}

// TestStringsAreBounded checks that strings are cut at maxString and that longer URIs are omitted.
func TestStringsAreBounded(t *testing.T) {
	long := strings.Repeat("é", maxString)
	text := "**" + long + ":** x (Confidence: 92% for " + long[:600] + ")\n**Source:** " + long + "\nSource: https://x.org/" + long
	found := Text([]byte(text), roomy)
	want := strings.Repeat("é", maxString/2)
	if c := found.Confidences[0]; c.Topic != want || c.Scope != want {
		t.Errorf("the topic has %d bytes and the scope %d, want %d", len(c.Topic), len(c.Scope), len(want))
	}
	if found.Citations[0].Source != want {
		t.Errorf("the source has %d bytes, want %d", len(found.Citations[0].Source), len(want))
	}
	if c := found.Citations[1]; len(c.Source) != maxString || c.URI != "" {
		t.Errorf("the citation with a long URI is %+v, want a cut source and no URI", c)
	}
}

// TestFindingsReleaseText checks that findings do not keep the long lines that they come from.
func TestFindingsReleaseText(t *testing.T) {
	const lines, length = 64, 60 << 10
	text := []byte("Source: MTBS 2022-09-15 https://x.org/a, Confidence: 92% for fire. " + strings.Repeat("x ", length/2))
	before := heap()
	var kept [lines]Findings
	for i := range kept {
		if kept[i] = Text(text, roomy); len(kept[i].Citations) == 0 || len(kept[i].Confidences) == 0 {
			t.Fatalf("Text() = %+v, want citations and confidences", kept[i])
		}
	}
	if grown := int64(heap()) - int64(before); grown > lines*length/4 {
		t.Errorf("the findings of %d lines of %d bytes keep %d bytes", lines, length, grown)
	}
	runtime.KeepAlive(&kept)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
