package source

import (
	"net/http"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
)

// route describes the answers on a request's path.
type route struct {
	dialects    []dialect.Dialect // the dialects that the stream may have; nil if the path is no run path
	pattern     string            // the matching glob: of the configuration, else of the first dialect
	continues   bool              // the stream continues from run to run
	shared      bool              // other protocols' servers use the path too, and the configuration names neither path nor dialect
	unconfirmed bool              // see Proxy
}

// route finds the dialects that a path selects. If the configuration names paths, only these are run paths. If no
// dialect lists a configured path, each stream on it is taken for the answer to one run request.
func (p *Proxy) route(r *http.Request) route {
	paths := interpretPath(r.URL) // only once, since a path may be a megabyte long
	found := p.routeAs(r.Method, paths.canonical())
	if !paths.isAmbiguous() {
		return found
	}
	all := p.routeAs(r.Method, paths)
	if found.dialects != nil {
		all.pattern = found.pattern
	}
	return all
}

// routeAs finds the route of a path. If a dialect is configured and the path is a run path for it, the route has only
// this dialect. If it is a run path only for other dialects, the route has those dialects and the configured one: a
// configured dialect must not exempt the path from the filter.
func (p *Proxy) routeAs(method string, paths interpretations) route {
	i := slices.IndexFunc(p.dialects, func(d dialect.Dialect) bool { return d.Name() == p.settings.Dialect })
	if i < 0 {
		return p.routeAmong(p.dialects, method, paths)
	}
	if found := p.routeAmong(p.dialects[i:i+1], method, paths); found.dialects != nil {
		return found
	}
	found := p.routeAmong(p.dialects, method, paths)
	if found.dialects != nil {
		found.dialects = append(found.dialects, p.dialects[i])
	}
	return found
}

// routeAmong finds the route of a path among some dialects.
func (p *Proxy) routeAmong(dialects []dialect.Dialect, method string, asked interpretations) (found route) {
	configured := slices.IndexFunc(p.settings.Paths, asked.match)
	if configured >= 0 {
		found.pattern = p.settings.Paths[configured]
	}
	for _, d := range dialects {
		paths := slices.DeleteFunc(slices.Clone(d.Paths()), func(at dialect.Path) bool {
			return at.Method != "" && at.Method != method || !asked.match(at.Glob)
		})
		if configured < 0 && (p.settings.Paths != nil || len(paths) == 0) {
			continue
		}
		shared := configured < 0 && !slices.ContainsFunc(paths, func(at dialect.Path) bool { return !at.AllowOthers })
		found.shared = shared && p.settings.Dialect == "" && (found.shared || found.dialects == nil)
		found.dialects = append(found.dialects, d)
		found.continues = found.continues || slices.ContainsFunc(paths, func(at dialect.Path) bool { return at.MultipleRuns })
		if found.pattern == "" {
			found.pattern = paths[0].Glob
		}
	}
	found.unconfirmed = found.shared && !p.settings.Public
	return found
}
