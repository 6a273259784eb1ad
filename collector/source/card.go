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

// maxCard is the size in bytes up to which an agent card is searched for URLs. Larger cards pass unchanged.
const maxCard = 1 << 20

// Reasons why an agent card passed unchanged although its URLs bypass the proxy, or may
// bypass it: the values of the label `reason`.
const (
	CardTooLarge   = "too_large"
	CardUnreadable = "unreadable" // not strict JSON, or in an unsupported content encoding
	CardSigned     = "signed"
)

// cardWarnings maps a reason to the warning that is logged once.
var cardWarnings = map[string]string{
	CardTooLarge:   "the agent card is larger than 1 MiB and passes unchanged; it may lead clients around the proxy; give the agent its public URL",
	CardUnreadable: "the agent card is not strict JSON or has an unsupported content encoding, and passes unchanged; it may lead clients around the proxy; give the agent its public URL",
	CardSigned:     "the agent card is signed and leads clients around the proxy; give the agent its public URL",
}

// replaceCard replaces the agent's URLs in an agent card with the address that the client used, so
// that the client stays with the proxy. Other answers pass unchanged.
func (p *Proxy) replaceCard(resp *http.Response) {
	if !p.settings.RewriteCards || resp.StatusCode != http.StatusOK {
		return
	}
	body := forwardedOf(resp.Request.Context()).body
	cards := p.cardDialect(body)
	replace := p.addressReplacer(body.request)
	if cards == nil || replace == nil {
		return
	}
	if resp.Request.Method == http.MethodHead {
		p.replaceBody(resp, resp.Body) // a GET may get a changed card, so its length and hash are unknown
		addCardVary(resp.Header)
		return
	}
	if resp.Body == nil || resp.Body == http.NoBody {
		return
	}
	if resp.ContentLength > maxCard {
		p.reportUnchangedCard(CardTooLarge)
		return
	}
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxCard+1))
	original := resp.Body
	resp.Body = replacedBody{io.MultiReader(bytes.NewReader(content), remainder(original, err)), original}
	if err != nil {
		return // the client gets what was read, and then the error
	}
	plain, err := io.ReadAll(io.LimitReader(decompress(bytes.NewReader(content), contentEncoding(resp.Header)), maxCard+1))
	var doc strictjson.Doc
	switch {
	case len(content) > maxCard, len(plain) > maxCard:
		p.reportUnchangedCard(CardTooLarge)
		return
	case err != nil, doc.Parse(plain, p.settings.JSONDepth) != nil:
		p.reportUnchangedCard(CardUnreadable)
		return
	}
	changed, signed := cards.ReplaceURLs(doc.Root(), replace)
	if signed {
		p.reportUnchangedCard(CardSigned)
	}
	if changed == nil {
		return
	}
	p.replaceBody(resp, replacedBody{bytes.NewReader(changed), original})
	if len(resp.Trailer) == 0 { // trailers need chunks
		resp.ContentLength = int64(len(changed))
		resp.Header.Set("Content-Length", strconv.Itoa(len(changed)))
	}
	addCardVary(resp.Header)
}

// addCardVary names the request headers on which a card depends.
func addCardVary(h http.Header) {
	h.Add("Vary", "Forwarded, X-Forwarded-Host, X-Forwarded-Proto")
}

// reportUnchangedCard counts a card that passes unchanged, and logs the first one for each reason.
func (p *Proxy) reportUnchangedCard(reason string) {
	p.counters.CountUnchangedCard(p.settings.Name, reason)
	if _, again := p.loggedCards.LoadOrStore(reason, true); !again {
		p.logger.Warn(cardWarnings[reason], "name", p.settings.Name)
	}
}

// replacedBody is a body with other content. Closing it closes the original body.
type replacedBody struct {
	io.Reader
	io.Closer
}

// errorReader is a reader that returns only an error.
type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) { return 0, e.err }

// remainder returns a reader of the rest of a body. If reading the body has failed with err, the reader
// returns only that error.
func remainder(body io.Reader, err error) io.Reader {
	if err != nil {
		return errorReader{err}
	}
	return body
}

// cardDialect returns the dialect whose agent card the request asks for, or nil.
func (p *Proxy) cardDialect(body *requestBody) dialect.CardRewriter {
	var doc strictjson.Doc
	request := body.describeEarly(&doc, p.settings.JSONDepth)
	for _, d := range p.dialects {
		if cards, ok := d.(dialect.CardRewriter); ok && cards.IsCard(request) {
			return cards
		}
	}
	return nil
}

// addressReplacer returns a function that replaces the agent's address in a URL with the one that
// the request was sent to. It returns nil if the request names no valid address.
func (p *Proxy) addressReplacer(r *http.Request) func(string) string {
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
			return s // the proxy cannot reach this path
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

// sameServer reports whether a URL leads to the agent: it has the agent's port, and the agent's host,
// a loopback address or an unspecified one.
func sameServer(u, agent *url.URL) bool {
	if u.Scheme != "http" && u.Scheme != "https" || port(u) != port(agent) {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	isLocal := strings.EqualFold(host, "localhost") || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
	return isLocal || strings.EqualFold(host, agent.Hostname())
}

func port(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}
