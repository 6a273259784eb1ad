package picture

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The look: a light page, since that is what the pictures stand in.
const (
	font   = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
	paper  = "#f4f5f5"
	sheet  = "#ffffff"
	border = "#dcdedf"
	ink    = "#24292e"
	faint  = "#75787b"
	rule   = "#ebecec"
)

// palette colours series that no override colours.
var palette = []string{"#3871dc", "#e0752d", "#56a64b", "#8f3bb8", "#d9a400", "#1a9ba1", "#c4162a", "#705da0", "#7f8c2f", "#e0568f",
	"#8ab8ff", "#ffb357", "#96d98d", "#ca95e5", "#806a00", "#6ed0e0", "#ff7383", "#3f2b5b", "#58140c", "#99440a"}

// named are the colours that the dashboards name.
var named = map[string]string{
	"green": "#56a64b", "orange": "#e0752d", "red": "#e02f44", "dark-red": "#8f1322", "blue": "#3871dc", "purple": "#8f3bb8", "text": ink,
}

// canvas collects SVG, with coordinates to a tenth of a pixel.
type canvas struct{ strings.Builder }

// box is a place on it.
type box struct{ x, y, w, h float64 }

func (b box) inset(left, top, right, bottom float64) box {
	return box{b.x + left, b.y + top, b.w - left - right, b.h - top - bottom}
}

func (c *canvas) add(format string, args ...any) {
	for i, a := range args {
		if n, ok := a.(float64); ok {
			args[i] = decimal(n)
		}
	}
	fmt.Fprintf(c, format+"\n", args...)
}

func decimal(n float64) string { return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64) }

func (c *canvas) rect(b box, fill, more string) {
	c.add(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s" %s/>`, b.x, b.y, max(0, b.w), max(0, b.h), fill, more)
}

func (c *canvas) line(x1, y1, x2, y2 float64, stroke string) {
	c.add(`<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s"/>`, x1, y1, x2, y2, stroke)
}

// anchors of text.
const (
	left   = "start"
	middle = "middle"
	right  = "end"
)

func (c *canvas) text(x, y, size float64, anchor, fill, text string) {
	c.add(`<text x="%s" y="%s" font-size="%s" text-anchor="%s" fill="%s">%s</text>`, x, y, size, anchor, fill, escaped(text))
}

// halo is text that stays readable upon lines.
func (c *canvas) halo(x, y, size float64, anchor, fill, text string) {
	c.add(`<text x="%s" y="%s" font-size="%s" text-anchor="%s" fill="%s" stroke="%s" stroke-width="3" paint-order="stroke">%s</text>`, x, y, size, anchor, fill, sheet, escaped(text))
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}

// fit cuts a text to a width, by what letters take on average.
func fit(text string, width, size float64) string {
	if most := int(width / (size * 0.52)); len([]rune(text)) > max(1, most) {
		return string([]rune(text)[:max(1, most-1)]) + "…"
	}
	return text
}

func wide(text string, size float64) float64 { return float64(len([]rune(text))) * size * 0.55 }
