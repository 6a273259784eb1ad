package stream

import (
	"net/http"
	"slices"
)

// CORS wraps next so that pages of the given origins may send GET and POST requests with a bearer
// token and a Last-Event-ID. Origins are compared exactly: there are no patterns, and cookies are
// never allowed.
func CORS(origins []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		allowed := origin != "" && slices.Contains(origins, origin)
		header := w.Header()
		header.Add("Vary", "Origin")
		if allowed {
			header.Set("Access-Control-Allow-Origin", origin)
		}
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		if allowed {
			header.Set("Access-Control-Allow-Methods", "GET, POST")
			header.Set("Access-Control-Allow-Headers", "Authorization, Last-Event-ID")
			header.Set("Access-Control-Max-Age", "600")
		}
		w.WriteHeader(http.StatusNoContent)
	})
}
