package picture

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

// heatmap draws how many of a histogram's values were in each of its buckets at each moment: the more, the darker.
func (a answered) heatmap(c *canvas, place box) {
	bounds, counts := a.classic()
	if a.series[0].Buckets != nil {
		bounds, counts = native(a.series[0].Buckets)
	}
	ax := axes{box: place.inset(58, 4, 6, 18), from: a.view.From, to: a.view.To}
	most := 0.0
	for _, column := range counts {
		for _, n := range column {
			most = max(most, n)
		}
	}
	each := ax.h / float64(len(bounds))
	across := max(1, ax.w*float64(a.view.Step)/float64(a.view.To.Sub(a.view.From)))
	for at, column := range counts {
		for i, n := range column {
			if n > 0 {
				cell := box{min(ax.at(at), ax.x+ax.w-across), ax.y + ax.h - each*float64(i+1), across - 0.5, each - 1}
				c.rect(cell, palette[0], `fill-opacity="`+decimal2(0.15+0.85*math.Sqrt(n/most))+`"`)
			}
		}
	}
	every := max(1, int(math.Ceil(12/each)))
	for i, upper := range bounds {
		if i%every == 0 {
			c.text(ax.x-6, ax.y+ax.h-each*float64(i+1)+4, 10, right, faint, format(upper, a.unit()))
		}
	}
	ax.clock(c)
}

func decimal2(n float64) string { return strconv.FormatFloat(n, 'f', 2, 64) }

// classic takes the buckets apart, which count all below their bounds.
func (a answered) classic() (bounds []float64, counts map[time.Time][]float64) {
	rows := slices.Clone(a.series)
	bound := func(s Series) float64 {
		n, err := strconv.ParseFloat(s.Labels["le"], 64)
		if err != nil {
			return math.Inf(1)
		}
		return n
	}
	slices.SortFunc(rows, func(x, y Series) int { return cmp.Compare(bound(x), bound(y)) })
	counts = map[time.Time][]float64{}
	for i, s := range rows {
		if !math.IsInf(bound(s), 0) {
			bounds = append(bounds, bound(s))
		}
		for _, p := range s.Points {
			if counts[p.At] == nil {
				counts[p.At] = make([]float64, len(rows))
			}
			if finite(p.Value) {
				counts[p.At][i] = p.Value
			}
		}
	}
	for _, column := range counts {
		for i := len(column) - 1; i > 0; i-- {
			column[i] -= column[i-1]
		}
	}
	return bounds, counts
}

// native gives the buckets of all moments the same bounds.
func native(moments []Buckets) (bounds []float64, counts map[time.Time][]float64) {
	for _, m := range moments {
		for _, upper := range m.Upper {
			if i, found := slices.BinarySearch(bounds, upper); !found {
				bounds = slices.Insert(bounds, i, upper)
			}
		}
	}
	counts = map[time.Time][]float64{}
	for _, m := range moments {
		counts[m.At] = make([]float64, len(bounds))
		for i, upper := range m.Upper {
			at, _ := slices.BinarySearch(bounds, upper)
			counts[m.At][at] = m.Count[i]
		}
	}
	return bounds, counts
}
