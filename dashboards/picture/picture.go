package picture

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/delegraph/delegraph/dashboards/grafana"
)

const (
	column  = 60.0 // width of a grid's place
	height  = 30.0 // of one
	gap     = 8.0
	banner  = 56.0
	padding = 12.0
)

// answered is a panel with what it shows.
type answered struct {
	grafana.Panel
	series    []Series
	exemplars []Point
	view      View
}

// Draw writes the dashboard as an SVG document.
func Draw(ctx context.Context, w io.Writer, d grafana.Dashboard, v View) error {
	v.From, v.To = v.From.Truncate(time.Second), v.To.Truncate(time.Second)
	c := &canvas{}
	bottom := 0
	for _, p := range d.Panels {
		bottom = max(bottom, p.GridPos.Y+p.GridPos.H)
	}
	page := box{0, 0, 24*column + gap, banner + float64(bottom)*height + gap}
	c.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" font-family="%s">`, page.w, page.h, font)
	c.rect(page, paper, "")
	c.text(gap+padding, 26, 18, left, ink, d.Title)
	c.text(page.w-gap-padding, 26, 11, right, faint, fmt.Sprintf("%s to %s UTC; the panels' own queries, answered by a running Prometheus; drawn by dashboards/draw, not by Grafana",
		v.From.UTC().Format("2006-01-02 15:04:05"), clock(v.To)))
	c.text(gap+padding, 45, 12, left, faint, d.Description)
	for _, p := range d.Panels {
		place := box{gap + float64(p.GridPos.X)*column, banner + float64(p.GridPos.Y)*height, float64(p.GridPos.W)*column - gap, float64(p.GridPos.H)*height - gap}
		if p.Type == "row" {
			c.text(place.x+2, place.y+16, 14, left, ink, p.Title)
			c.line(place.x, place.y+place.h, place.x+place.w, place.y+place.h, border)
			continue
		}
		a, err := ask(ctx, p, v)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Title, err)
		}
		a.draw(c, place)
	}
	c.add("</svg>")
	_, err := io.WriteString(w, c.String())
	return err
}

func ask(ctx context.Context, p grafana.Panel, v View) (answered, error) {
	a := answered{Panel: p, view: v}
	for _, target := range p.Targets {
		series, err := v.Ask(ctx, target)
		if err != nil {
			return a, err
		}
		a.series = append(a.series, series...)
		if target.Exemplar {
			points, _, err := v.Exemplars(ctx, target)
			if err != nil {
				return a, err
			}
			a.exemplars = append(a.exemplars, points...)
		}
	}
	return a, nil
}

func (a answered) draw(c *canvas, place box) {
	c.rect(place, sheet, `stroke="`+border+`" rx="3"`)
	c.add("<g><title>%s</title>", escaped(a.Description))
	c.text(place.x+padding, place.y+18, 12.5, left, ink, fit(a.Title, place.w-2*padding, 12.5))
	c.add("</g>")
	inside := place.inset(padding, 28, padding, 8)
	if len(a.series) == 0 {
		c.text(place.x+place.w/2, place.y+place.h/2, 13, middle, faint, "no data")
		return
	}
	switch a.Type {
	case "timeseries":
		a.lines(c, inside)
	case "stat":
		a.stat(c, inside)
	case "heatmap":
		a.heatmap(c, inside)
	case "nodeGraph":
		a.graph(c, inside)
	case "table":
		a.table(c, inside)
	default:
		c.text(inside.x, inside.y+20, 12, left, faint, "panels of the type "+a.Type+" are not drawn")
	}
}

// unit is the panel's.
func (a answered) unit() string { return a.FieldConfig.Defaults.Unit }

// colour is a series' by its override, or by its place.
func (a answered) colour(i int) string {
	for _, o := range a.FieldConfig.Overrides {
		if o.Matcher.Options != a.series[i].Legend {
			continue
		}
		for _, p := range o.Properties {
			if value, ok := p.Value.(map[string]any); ok && p.ID == "color" {
				return named[fmt.Sprint(value["fixedColor"])]
			}
		}
	}
	return palette[i%len(palette)]
}

// judged is the colour of the last threshold that a value reaches.
func (a answered) judged(n float64) string {
	colour := ink
	if t := a.FieldConfig.Defaults.Thresholds; t != nil {
		for _, s := range t.Steps {
			if s.Value == nil || n >= *s.Value {
				colour = named[s.Color]
			}
		}
	}
	return colour
}
