package proof

import "testing"

// TestIntroductoryPhrases checks labels after a comma: after a phrase that names a place, a time, a group
// or an authority, the confidence is not the answer's own.
func TestIntroductoryPhrases(t *testing.T) {
	for text, want := range map[string]int{
		"In the EU, confidence: 40%":                          0,
		"**In the EU**, confidence: 40%":                      0,
		"- In the EU, confidence: 40%":                        0,
		"Trust differs. In France, confidence: 35%":           0,
		"Among young voters, confidence: 35%":                 0,
		"Since 2020, confidence: 40%":                         0,
		"Across small firms; confidence: 55%":                 0,
		"In Germany — confidence: 61.3%":                      0,
		"According to Gallup, confidence: 35%":                0,
		"In the EU, 40% confidence.":                          0,
		"In der EU, Vertrauen: 40 %":                          0,
		"Laut Umfrage, Vertrauen: 40 %":                       0,
		"En France, confiance : 35 %":                         0,
		"Chez les jeunes, confiance : 35 %":                   0,
		"En España, confianza: 40 %":                          0,
		"Entre os jovens, confiança: 40%":                     0,
		"In Italia, fiducia: 40%":                             0,
		"In Nederland, vertrouwen: 40%":                       0,
		"In the EU, my confidence is 90%.":                    1,
		"In the EU, I'm 90% confident that the rule applies.": 1,
		"In the EU, my confidence: 90%":                       1,
		"Crews have worked on the road since the storm came and in the north of the park and its trails, confidence: 90%": 1,
		"In this case, confidence: 90%":                               1,
		"In summary, confidence: 90%":                                 1,
		"In my view, confidence: 90%":                                 1,
		"According to my analysis, confidence: 90%":                   1,
		"In diesem Fall, Konfidenz: 90 %":                             1,
		"En résumé, confiance : 80 %":                                 1,
		"En conclusión, confianza: 80 %":                              1,
		"Severity: high, confidence: 90%":                             1,
		"The stand burned in 2022, confidence: 90%":                   1,
		"Moderate severity in the north, confidence: 90%":             1,
		"For timber, confidence: 95%":                                 1,
		"The fire is in Oregon. Confidence: 90%":                      1,
		"This answer is for readers in the EU. My confidence is 90%.": 1,
	} {
		if got := len(Text([]byte(text), roomy).Confidences); got != want {
			t.Errorf("Text(%q) has %d confidences, want %d", text, got, want)
		}
	}
}
