import HTTPChannel
package import NIOHTTP1

/// The checks that hold foreign pages off: they can make a browser send requests here (CSRF), or reach this machine
/// under a name of theirs (DNS rebinding).
package enum RequestGuard {
    /// Whether a request is for one of the names of this machine.
    /// - Parameter names: with ports, in lower case, as browsers send them.
    package static func isForThisHost(_ head: HTTPRequestHead, _ names: Set<String>) -> Bool {
        let hosts = head.headers["host"]
        guard hosts.count == 1 else { return false }
        let asked = [hosts[0], RequestTarget(head.uri).authority].compactMap { $0?.lowercased() }
        return asked.allSatisfy { names.contains(plain($0)) }
    }

    /// A host name may end with the dot of the root, before its port. A link-local address may have a zone, the caller's
    /// own name of its interface (RFC 6874): `[fe80::1%25eth0]:7443`.
    private static func plain(_ authority: String) -> String {
        if authority.hasPrefix("[fe80:"), let zone = authority.firstIndex(of: "%"),
            let end = authority[zone...].firstIndex(of: "]")
        {
            return String(authority[..<zone] + authority[end...])
        }
        let name = authority.prefix { $0 != ":" }
        return name.hasSuffix(".") ? String(name.dropLast() + authority.dropFirst(name.count)) : authority
    }

    /// Whether a request that changes something comes from a page of this host, or from a program.
    package static func isOfThisOrigin(_ head: HTTPRequestHead, isPlain: Bool) -> Bool {
        let (origins, sites) = (head.headers["origin"], head.headers["sec-fetch-site"])
        guard origins.count <= 1, sites.count <= 1, sites.allSatisfy({ ["same-origin", "none"].contains($0) }) else {
            return false
        }
        guard let origin = origins.first?.lowercased() else { return true }
        let own = (isPlain ? "http://" : "https://") + (head.headers.first(name: "host") ?? "").lowercased()
        // Browsers hide the origin of some forms, and say then in another way that they are ours.
        return origin == own || (origin == "null" && sites == ["same-origin"])
    }

    /// The value of the cookie of a name.
    package static func cookie(_ name: String, in head: HTTPRequestHead) -> String? {
        for line in head.headers["cookie"] {
            for pair in line.split(separator: ";") {
                let text = pair.drop { $0 == " " }
                if text.hasPrefix(name + "=") { return String(text.dropFirst(name.utf8.count + 1)) }
            }
        }
        return nil
    }

    /// The headers of every answer.
    /// - Parameter policy: the sources that the page may use (Content Security Policy, level 3).
    package static func add(to headers: inout HTTPHeaders, policy: String) {
        headers.add(name: "content-security-policy", value: policy + "; base-uri 'none'; frame-ancestors 'none'")
        headers.add(name: "x-content-type-options", value: "nosniff")
        // Not `no-referrer`: with it, browsers send forms with `Origin: null`, and no form could be told from a foreign one.
        headers.add(name: "referrer-policy", value: "same-origin")
        headers.add(name: "cache-control", value: "no-store")
        headers.add(name: "cross-origin-resource-policy", value: "same-origin")
        headers.add(name: "cross-origin-opener-policy", value: "same-origin")
    }
}
