package answer

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"countersign"
)

// Way is how browsers reach this program, as far as its operator has said. What a request says of its own way, in headers that
// proxies set, is believed of a proxy that the operator named and of nobody else: anybody can send such a header.
type Way struct {
	PublicURL string         // where people reach it: scheme, host and port where there is one, nothing behind; empty when nobody said
	Proxies   []netip.Prefix // the proxies in front of it
}

// HTTPS reports whether the browser's side of a request is encrypted. It is the one place where that is decided. An operator
// who says that people come by HTTPS is believed for every request: a cookie that then travelled in the clear would be worse
// than one that somebody who came another way does not get.
func (w Way) HTTPS(r *http.Request) bool {
	if strings.HasPrefix(w.PublicURL, "https://") || r.TLS != nil {
		return true
	}
	if peer, ok := peerOf(r); !ok || !w.trusts(peer) {
		return false
	}
	said := listed(r, "X-Forwarded-Proto")
	return len(said) > 0 && strings.EqualFold(said[len(said)-1], "https") // the last one is that of the proxy next to us
}

// Client is the address that a request comes from: that of the connection, and behind proxies that are trusted, the last one
// that none of them is. What stands before it in the header, whoever sent the request may have written.
func (w Way) Client(r *http.Request) string {
	peer, ok := peerOf(r)
	if !ok {
		return r.RemoteAddr
	}
	hops := listed(r, "X-Forwarded-For")
	for w.trusts(peer) && len(hops) > 0 {
		before, ok := addressOf(hops[len(hops)-1])
		if !ok {
			break
		}
		peer, hops = before, hops[:len(hops)-1]
	}
	return peer.String()
}

// Origin is where the reader of an answer reached this program.
func (w Way) Origin(r *http.Request) string {
	if w.PublicURL != "" {
		return w.PublicURL
	}
	if w.HTTPS(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

func (w Way) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(w.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// listed is a header that proxies add to, in one line or several.
func listed(r *http.Request, header string) (values []string) {
	for _, line := range r.Header.Values(header) {
		for _, value := range strings.Split(line, ",") {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

func peerOf(r *http.Request) (netip.Addr, bool) { return addressOf(r.RemoteAddr) }

// addressOf reads an address with or without a port, as proxies write either.
func addressOf(text string) (netip.Addr, bool) {
	if a, err := netip.ParseAddrPort(text); err == nil {
		return plain(a.Addr()), true
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return plain(a), err == nil
}

// plain is an address without what depends on who wrote it: a zone, or version four written as version six.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// ReadProxies reads addresses and networks with commas between them, as a setting has them.
func ReadProxies(setting string) (proxies []netip.Prefix, err error) {
	for _, text := range strings.Split(setting, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := netip.ParsePrefix(text)
		if a, addrErr := netip.ParseAddr(text); addrErr == nil {
			a = plain(a)
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, countersign.Errorf(countersign.Invalid, "%q is neither an address nor a network", text).In("trusted proxies").
				Try("expected, for example, 10.0.0.5 or 10.0.0.0/24, with commas between several")
		}
		if p.Bits() == 0 {
			return nil, countersign.Errorf(countersign.Invalid, "%q is everybody", text).In("trusted proxies").
				Try("name the proxies in front of this program: whoever is trusted can say that they are any address")
		}
		proxies = append(proxies, p.Masked())
	}
	return proxies, nil
}
