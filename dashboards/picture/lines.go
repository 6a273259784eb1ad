package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// axes map moments and values to places.
type axes struct {
	box
	from, to  time.Time
	low, high float64
}

func (a axes) at(t time.Time) float64 {
	return a.x + a.w*float64(t.Sub(a.from))/float64(a.to.Sub(a.from))
}
func (a axes) of(n float64) float64 { return a.y + a.h*(1-(n-a.low)/(a.high-a.low)) }

// lines draws a time series panel: axes, lines or stacked bars, the limit, exemplars, and what each series is called.
func (a answered) lines(c *canvas, place box) {
	custom := a.FieldConfig.Defaults.Custom
	bars := custom["drawStyle"] == "bars"
	series, shown := a.visible()
	names := a.names(c, place, shown)
	ax := axes{box: place.inset(58, 4, 6, 18+names), from: a.view.From, to: a.view.To}
	ax.low, ax.high = a.extent(series, bars)
	ax.grid(c, a.unit())
	if bars {
		a.stack(c, ax, series, shown)
	} else {
		a.trace(c, ax, series, shown, custom["lineInterpolation"] == "stepAfter")
	}
	if limit, ok := a.limit(); ok && limit <= ax.high {
		c.add(`<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-dasharray="6 4"/>`, ax.x, ax.of(limit), ax.x+ax.w, ax.of(limit), named["red"])
		c.halo(ax.x+ax.w-2, ax.of(limit)-4, 10, right, named["red"], format(limit, a.unit()))
	}
	var dots strings.Builder
	for _, e := range a.exemplars {
		if x, y := ax.at(e.At), ax.of(min(e.Value, ax.high)); x >= ax.x && x <= ax.x+ax.w {
			fmt.Fprintf(&dots, "M%s %sl3 3-3 3-3-3z", decimal(x), decimal(y-3))
		}
	}
	c.add(`<path d="%s" fill="#7b61ff" fill-opacity="0.6"/>`, dots.String())
}

// visible leaves out series that never are anything: of many reasons few occur. Where none is anything, all stay.
func (a answered) visible() (series []Series, place []int) {
	for i, s := range a.series {
		if slices.ContainsFunc(s.Points, func(p Point) bool { return p.Value != 0 && !math.IsNaN(p.Value) }) {
			series, place = append(series, s), append(place, i)
		}
	}
	if len(series) > 0 {
		return series, place
	}
	for i := range a.series {
		place = append(place, i)
	}
	return a.series, place
}

// names writes what the series are called, and returns the height that it takes.
func (a answered) names(c *canvas, place box, shown []int) float64 {
	const size, line = 10.5, 15.0
	type entry struct {
		x, y float64
		i    int
	}
	x, y := 0.0, 0.0
	var entries []entry
	for _, i := range shown {
		w := 16 + wide(a.name(i), size) + 10
		if x > 0 && x+w > place.w {
			x, y = 0, y+line
		}
		if y >= 3*line {
			break
		}
		entries = append(entries, entry{x, y, i})
		x += w
	}
	if len(entries) < len(shown) {
		c.text(place.x+place.w, place.y+place.h, size, right, faint, count(len(shown)-len(entries), "more"))
	}
	for _, e := range entries {
		base := place.y + place.h - y + e.y - 2
		c.rect(box{place.x + e.x, base - 5, 12, 3}, a.colour(e.i), "")
		c.text(place.x+e.x+16, base, size, left, ink, fit(a.name(e.i), place.w-20, size))
	}
	return y + line
}

// name is what a series is called. An agent that is not known has no name.
func (a answered) name(i int) string { return cmp.Or(a.series[i].Legend, "(none)") }

// extent is from the least value to the greatest, by the panel's own limits.
func (a answered) extent(series []Series, stacked bool) (low, high float64) {
	sums := map[time.Time]float64{}
	high = math.Inf(-1)
	for _, s := range series {
		for _, p := range s.Points {
			n := p.Value
			if !finite(n) {
				continue
			}
			if stacked {
				sums[p.At] += n
				n = sums[p.At]
			}
			low, high = min(low, n), max(high, n)
		}
	}
	for _, e := range a.exemplars {
		high = max(high, e.Value)
	}
	if limit, ok := a.limit(); ok {
		high = max(high, limit*1.2)
	}
	if m := a.FieldConfig.Defaults.Max; m != nil {
		high = *m
	}
	if math.IsInf(high, 0) || high <= low {
		high = low + 1
	}
	return low, high + (high-low)*0.05
}

func (a answered) limit() (float64, bool) {
	style, _ := a.FieldConfig.Defaults.Custom["thresholdsStyle"].(map[string]any)
	if style["mode"] != "line" {
		return 0, false
	}
	return *a.FieldConfig.Defaults.Thresholds.Steps[1].Value, true
}

func (a axes) grid(c *canvas, unit string) {
	for _, n := range ticks(a.low, a.high, 4, unit) {
		c.line(a.x, a.of(n), a.x+a.w, a.of(n), rule)
		c.text(a.x-6, a.of(n)+3.5, 10, right, faint, format(n, unit))
	}
	a.clock(c)
}

// clock marks round moments, and says the seconds where they are not.
func (a axes) clock(c *canvas) {
	step := rounds[len(rounds)-1]
	for _, r := range rounds {
		if a.to.Sub(a.from)/r <= time.Duration(a.w/75) {
			step = r
			break
		}
	}
	layout := "15:04"
	if step < time.Minute {
		layout = "15:04:05"
	}
	for at := a.from.Truncate(step).Add(step); !at.After(a.to); at = at.Add(step) {
		x := min(a.at(at), a.x+a.w-10)
		c.line(a.at(at), a.y+a.h, a.at(at), a.y+a.h+3, border)
		c.text(x, a.y+a.h+14, 10, middle, faint, at.UTC().Format(layout))
	}
}

// rounds are the steps between marks on a clock.
var rounds = []time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour,
}

func (a answered) trace(c *canvas, ax axes, series []Series, shown []int, steps bool) {
	for i, s := range series {
		var path strings.Builder
		pen, last := "M", Point{}
		for _, p := range s.Points {
			if !finite(p.Value) {
				pen = "M"
				continue
			}
			if pen == "L" && p.At.Sub(last.At) > a.view.Step*3/2 {
				pen = "M" // nothing was known in between
			}
			if pen == "L" && steps {
				fmt.Fprintf(&path, "H%s", decimal(ax.at(p.At)))
			}
			fmt.Fprintf(&path, "%s%s %s", pen, decimal(ax.at(p.At)), decimal(ax.of(p.Value)))
			pen, last = "L", p
		}
		c.add(`<path d="%s" fill="none" stroke="%s" stroke-width="1.3" stroke-linecap="round"/>`, path.String(), a.colour(shown[i]))
	}
}

func (a answered) stack(c *canvas, ax axes, series []Series, shown []int) {
	foot := map[time.Time]float64{}
	bar := max(1, ax.w*float64(a.view.Step)/float64(a.view.To.Sub(a.view.From))-0.6)
	for i, s := range series {
		var path strings.Builder
		for _, p := range s.Points {
			if !finite(p.Value) || p.Value <= 0 {
				continue
			}
			top := ax.of(foot[p.At] + p.Value)
			fmt.Fprintf(&path, "M%s %sh%sV%sh-%sz", decimal(min(ax.at(p.At), ax.x+ax.w-bar)), decimal(top), decimal(bar), decimal(ax.of(foot[p.At])), decimal(bar))
			foot[p.At] += p.Value
		}
		c.add(`<path d="%s" fill="%s" fill-opacity="0.85"/>`, path.String(), a.colour(shown[i]))
	}
}
