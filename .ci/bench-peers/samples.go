package main

import (
	"fmt"
	"math"
	"slices"
)

// samples holds the results of the rounds of one figure.
type samples []float64

func (s samples) sorted() samples { return slices.Sorted(slices.Values(s)) }

// median returns NaN if there are no samples.
func (s samples) median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return s.sorted()[len(s)/2]
}

// through divides each sample by the other's sample of the same round.
func (s samples) through(other samples) (ratios samples) {
	for i := range min(len(s), len(other)) {
		ratios = append(ratios, s[i]/other[i])
	}
	return ratios
}

// times multiplies each sample.
func (s samples) times(factor float64) samples {
	scaled := slices.Clone(s)
	for i := range scaled {
		scaled[i] *= factor
	}
	return scaled
}

const notMeasured = "not measured"

// String returns the median, with minimum and maximum if there is more than one sample.
func (s samples) String() string {
	if len(s) == 0 {
		return notMeasured
	}
	all := s.sorted()
	if len(all) == 1 {
		return figure(all[0])
	}
	return fmt.Sprintf("%s (%s–%s)", figure(s.median()), figure(all[0]), figure(all[len(all)-1]))
}

// figure formats a number with a sensible number of digits.
func figure(f float64) string {
	switch size := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "?"
	case size >= 99.5:
		return fmt.Sprintf("%.0f", f)
	case size >= 9.95:
		return fmt.Sprintf("%.1f", f)
	default:
		return fmt.Sprintf("%.2f", f)
	}
}
