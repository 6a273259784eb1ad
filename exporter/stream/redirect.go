package stream

import (
	"net/http"
	"net/url"
	"strings"
)

// redirect answers a request for a shard that this process does not serve. The address comes from the
// configuration, with the path and query of the request. The redirect contains no ticket: only the
// process that issued a ticket accepts it, and another host must not see it. The client decides whether
// it sends its token to another host.
func (h *Hub) redirect(w http.ResponseWriter, r *http.Request, at Attachment, why Refusal) {
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case why == OtherShard && at.Location != "":
		h.settings.Observer.CountRefusal(why, RedirectResponse)
		http.Redirect(w, r, at.Location+r.URL.EscapedPath()+withoutTicket(r.URL.RawQuery), http.StatusTemporaryRedirect)
	case why == OtherShard:
		h.settings.Observer.CountRefusal(why, StatusResponse)
		http.Error(w, refusalTexts[why], http.StatusMisdirectedRequest)
	case len(at.Shards) == 0:
		http.Error(w, "this stream has no shards; omit the parameter shard", http.StatusBadRequest)
	default:
		http.Error(w, refusalTexts[why]+strings.Join(at.Shards, ", "), http.StatusBadRequest)
	}
}

// withoutTicket returns a raw query with its question mark, without tickets; "" if nothing is left.
// The other parameters stay as they are, byte for byte. The query has been parsed without error.
func withoutTicket(raw string) string {
	var kept []string
	for part := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(part, "=")
		if name, err := url.QueryUnescape(name); part != "" && err == nil && name != "ticket" {
			kept = append(kept, part)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return "?" + strings.Join(kept, "&")
}
