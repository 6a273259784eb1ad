package config

import "strings"

// maxWord is the length of the longest word that is compared. It is longer than any name and keeps the
// comparison cheap.
const maxWord = 64

// closest returns the candidate most similar to word, or "" if none is similar.
func closest(word string, words []string) string {
	if len(word) > maxWord {
		return ""
	}
	best, bestDistance := "", max(1, len(word)/3)+1
	for _, candidate := range words {
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance returns the number of letters to insert, remove, replace or swap with a neighbor to turn a into b
// (optimal string alignment).
func distance(a, b string) int {
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			row[j+1] = min(last[j+1], row[j]) + 1
			if a[i] == b[j] {
				row[j+1] = min(row[j+1], last[j])
			} else {
				row[j+1] = min(row[j+1], last[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
