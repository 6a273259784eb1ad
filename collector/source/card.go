package source

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxCard bounds the answers that are read for URLs of the agent, in bytes. Larger ones pass as they are.
const maxCard = 1 << 20

// Why an agent card passed unchanged, although it leads clients around the proxy or may do so; the values of the label `reason`.
const (
	CardTooLarge   = "too_large"
	CardUnreadable = "unreadable" // not strict JSON, or in an encoding that cannot be undone
	CardSigned     = "signed"
)

// cardAdvice maps a reason to the line that the log has once.
var cardAdvice = map[string]string{
	CardTooLarge:   "the agent card is larger than 1 MiB and passes unchanged; it may lead clients around the proxy; give the agent its public URL",
	CardUnreadable: "the agent card is not strict JSON and passes unchanged; it may lead clients around the proxy; give the agent its public URL",
	CardSigned:     "the agent card is signed and leads clients around the proxy; give the agent its public URL",
}

// replaceCard puts the address that the client asked for into an agent card, so that its client stays with the proxy. Whatever is no card
// passes as it is.
func (p *Proxy) replaceCard(resp *http.Response) {
	body, _ := resp.Request.Context().Value(requestKey{}).(*requestBody)
	if body == nil || resp.StatusCode != http.StatusOK || resp.Body == nil {
		return
	}
	cards := p.cards(body)
	replace := p.addresses(body.request)
	if cards == nil || replace == nil {
		return
	}
	if resp.ContentLength > maxCard {
		p.cardPassed(CardTooLarge)
		return
	}
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxCard+1))
	sent := resp.Body
	resp.Body = unread{io.MultiReader(bytes.NewReader(content), rest(sent, err)), sent}
	switch {
	case err != nil:
		return // the client gets what there is, and the error
	case len(content) > maxCard:
		p.cardPassed(CardTooLarge)
		return
	}
	plain, err := io.ReadAll(io.LimitReader(decompress(bytes.NewReader(content), contentEncoding(resp.Header)), maxCard+1))
	if len(plain) > maxCard {
		p.cardPassed(CardTooLarge)
		return
	}
	var doc strictjson.Doc
	if err != nil || doc.Parse(plain, p.settings.JSONDepth) != nil {
		p.cardPassed(CardUnreadable)
		return
	}
	changed, signed := cards.ReplaceURLs(doc.Root(), replace)
	if signed {
		p.cardPassed(CardSigned)
	}
	if changed == nil {
		return
	}
	p.reframed(resp, unread{bytes.NewReader(changed), sent})
	resp.ContentLength = int64(len(changed))
	resp.Header.Set("Content-Length", strconv.Itoa(len(changed)))
	resp.Header.Add("Vary", "Forwarded, X-Forwarded-Host, X-Forwarded-Proto")
}

// cardPassed counts a card that passes unchanged, and logs the first for each reason.
func (p *Proxy) cardPassed(reason string) {
	p.counters.CardPassed(p.settings.Name, reason)
	if _, again := p.unchanged.LoadOrStore(reason, true); !again {
		p.logger.Warn(cardAdvice[reason], "name", p.settings.Name)
	}
}

// unread is a body of which something was read, or that is replaced.
type unread struct {
	io.Reader
	io.Closer
}

// rest is what follows of a body.
func rest(body io.Reader, err error) io.Reader {
	if err != nil {
		return failing{err}
	}
	return body
}

// cards returns the dialect whose agent card the answer to a request may be, or nil.
func (p *Proxy) cards(body *requestBody) dialect.Carder {
	var doc strictjson.Doc
	request := body.asked(&doc, p.settings.JSONDepth)
	for _, d := range p.dialects {
		if cards, ok := d.(dialect.Carder); ok && cards.IsCard(request) {
			return cards
		}
	}
	return nil
}

// addresses returns what puts the address that a request asked for into the agent's URLs, or nil if that is no address.
func (p *Proxy) addresses(r *http.Request) func(string) string {
	scheme, host := origin(r)
	here, err := url.Parse(scheme + "://" + host)
	if err != nil || here.Host != host || here.Hostname() == "" {
		return nil
	}
	base := strings.TrimSuffix(p.settings.Upstream.EscapedPath(), "/")
	return func(s string) string {
		u, err := url.Parse(s)
		if err != nil || u.User != nil || !sameServer(u, p.settings.Upstream) {
			return s
		}
		path, below := strings.CutPrefix(u.EscapedPath(), base)
		if !below || path != "" && path[0] != '/' {
			return s // no path of the proxy leads there
		}
		_, after, _ := strings.Cut(s, "://")
		if i := strings.IndexAny(after, "/?#"); i >= 0 {
			after = after[i:]
		} else {
			after = ""
		}
		return here.String() + strings.TrimPrefix(after, base)
	}
}

// sameServer reports whether a URL leads to the agent: it has the agent's port, and its host or one that stands for "here".
func sameServer(u, agent *url.URL) bool {
	if u.Scheme != "http" && u.Scheme != "https" || port(u) != port(agent) {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	here := strings.EqualFold(host, "localhost") || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
	return here || strings.EqualFold(host, agent.Hostname())
}

func port(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}
