package picture

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// format shows a value in one of Grafana's units.
func format(n float64, unit string) string {
	switch {
	case !finite(n):
		return "–"
	case unit == "percentunit":
		return significant(n*100, 3) + "%"
	case unit == "s":
		return duration(n)
	case unit == "bytes":
		return scaled(n, 1024, []string{"B", "KiB", "MiB", "GiB"})
	case unit == "Bps":
		return scaled(n, 1000, []string{"B/s", "kB/s", "MB/s"})
	case unit == "cps":
		return significant(n, 3) + " /s"
	case unit == "cpm":
		return scaled(n, 1000, []string{"/min", "k/min", "M/min"})
	case unit == "bool_yes_no":
		return map[bool]string{true: "Yes", false: "No"}[n != 0]
	}
	return scaled(n, 1000, []string{"", "k", "M"})
}

func finite(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }

func scaled(n, base float64, units []string) string {
	i := 0
	for math.Abs(n) >= base && i < len(units)-1 {
		n, i = n/base, i+1
	}
	return strings.TrimSpace(significant(n, 3) + " " + units[i])
}

func duration(n float64) string {
	switch s := math.Abs(n); {
	case s == 0:
		return "0 s"
	case s < 0.001:
		return significant(n*1e6, 3) + " µs"
	case s < 1:
		return significant(n*1000, 3) + " ms"
	case s < 120:
		return significant(n, 3) + " s"
	case s < 7200:
		return significant(n/60, 3) + " min"
	case s < 48*3600:
		return significant(n/3600, 3) + " h"
	}
	return significant(n/86400, 3) + " d"
}

// significant has so many digits that matter, and no zeros after them.
func significant(n float64, digits int) string {
	if n == 0 {
		return "0"
	}
	decimals := max(0, digits-1-int(math.Floor(math.Log10(math.Abs(n)))))
	text := strconv.FormatFloat(n, 'f', min(decimals, 6), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func clock(at time.Time) string { return at.UTC().Format("15:04:05") }

// ticks are round values from low to high, about as many as asked for.
func ticks(low, high float64, about int, unit string) (at []float64) {
	step, power := (high-low)/float64(about), 1.0
	if unit == "bytes" {
		power = math.Pow(1024, math.Floor(math.Log(step)/math.Log(1024)))
	}
	power *= math.Pow(10, math.Floor(math.Log10(step/power)))
	for _, round := range []float64{1, 2, 5, 10} {
		if round*power >= step {
			step = round * power
			break
		}
	}
	for n := math.Ceil(low/step) * step; n <= high+step/1000; n += step {
		at = append(at, n)
	}
	return at
}

func count(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }
