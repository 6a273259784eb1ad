package source

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
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
	CardMemory     = "memory" // the memory budget had no room for the card
)

// cardWarnings maps a reason to the warning that is logged once.
var cardWarnings = map[string]string{
	CardTooLarge:   "the agent card is larger than 1 MiB and passes unchanged; it may lead clients around the proxy; configure the agent to publish the proxy's URL in its card",
	CardUnreadable: "the agent card is not strict JSON or has an unsupported content encoding, and passes unchanged; it may lead clients around the proxy; configure the agent to publish the proxy's URL in its card",
	CardSigned:     "the agent card is signed and leads clients around the proxy; configure the agent to publish the proxy's URL in its card",
	CardMemory:     "the memory budget has no room for the agent card, which passes unchanged; it may lead clients around the proxy; configure the agent to publish the proxy's URL in its card",
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
		replaceBody(resp, resp.Body) // a GET may get a changed card, so its length and hash are unknown
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
	card := &cardBody{original: resp.Body, copy: bodyCopy{limit: maxCard + 1, memory: p.settings.RequestBudget}}
	err := card.read()
	resp.Body = card
	if err != nil && !errors.Is(err, errNoMemory) {
		return // the client gets what was read, and then the error
	}
	changed, unchanged := p.changeCard(cards, card.copy.data, err, contentEncoding(resp.Header), replace)
	if unchanged != "" {
		p.reportUnchangedCard(unchanged)
	}
	if changed == nil {
		return
	}
	card.replace(changed)
	replaceBody(resp, card)
	if len(resp.Trailer) == 0 { // trailers need chunks
		resp.ContentLength = int64(len(changed))
		resp.Header.Set("Content-Length", strconv.Itoa(len(changed)))
	}
	addCardVary(resp.Header)
}

// changeCard returns a card with replaced URLs, or nil if it passes unchanged. err is the error of reading the card. The second result
// is the reason to count, or "". The memory that changeCard takes while it works is charged to the budget.
func (p *Proxy) changeCard(cards dialect.CardRewriter, content []byte, err error, encoding string, replace func(string) string) (changed []byte, unchanged string) {
	memory := p.settings.RequestBudget
	plain := bodyCopy{limit: maxCard + 1, memory: memory}
	defer plain.release()
	if err == nil && len(content) <= maxCard {
		err = plain.readFrom(decompress(bytes.NewReader(content), encoding))
	}
	decoding := event.DecodingSize(plain.data)
	switch {
	case errors.Is(err, errNoMemory):
		return nil, CardMemory
	case len(content) > maxCard, len(plain.data) > maxCard:
		return nil, CardTooLarge
	case err != nil:
		return nil, CardUnreadable
	case !memory.Reserve(decoding):
		return nil, CardMemory
	}
	defer memory.Release(decoding)
	var doc strictjson.Doc
	if doc.Parse(plain.data, p.settings.JSONDepth) != nil {
		return nil, CardUnreadable
	}
	changed, signed := cards.ReplaceURLs(doc.Root(), replace)
	if signed {
		unchanged = CardSigned
	}
	return changed, unchanged
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

// cardBody is the body of an answer whose beginning was read. Its memory is charged until it is closed.
type cardBody struct {
	io.Reader
	original io.ReadCloser
	copy     bodyCopy
}

// read reads the body up to the limit of a card. A reader of the cardBody gets what was read, and then the rest of the body or the
// error.
func (c *cardBody) read() error {
	err := c.copy.readFrom(c.original)
	failed := err
	if errors.Is(err, errNoMemory) {
		failed = nil
	}
	c.Reader = io.MultiReader(bytes.NewReader(c.copy.data), remainder(c.original, failed))
	return err
}

// replace replaces the whole body.
func (c *cardBody) replace(content []byte) {
	c.copy.release()
	c.copy.memory.Charge(cap(content))
	c.copy.data, c.Reader = content, bytes.NewReader(content)
}

func (c *cardBody) Close() error {
	c.copy.release()
	return c.original.Close()
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
	if err != nil || here.Host != host || here.Hostname() == "" || strings.ContainsAny(host, "\"<>") { // which url.Parse accepts
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
		return here.String() + skipSegments(after, strings.Count(base, "/"))
	}
}

// skipSegments returns what follows the host and the first n segments of the path in a URL without its scheme. The segments may be
// spelled in any way.
func skipSegments(after string, n int) string {
	end := len(after)
	if i := strings.IndexAny(after, "?#"); i >= 0 {
		end = i
	}
	at := 0
	for range n + 1 {
		next := strings.IndexByte(after[at:end], '/')
		if next < 0 {
			return after[end:]
		}
		at += next + 1
	}
	return after[at-1:]
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
