import Foundation
import HandlerCatalog
import Testing

@Suite("Parts of URLs")
struct URLPartsTests {
    @Test("the examples of RFC 3986 are taken apart as it says")
    func examples() throws {
        let examples: [(String, String, String?, UInt16?, String, String?, String?)] = [
            ("ftp://ftp.is.co.za/rfc/rfc1808.txt", "ftp", "ftp.is.co.za", nil, "/rfc/rfc1808.txt", nil, nil),
            ("http://www.ietf.org/rfc/rfc2396.txt", "http", "www.ietf.org", nil, "/rfc/rfc2396.txt", nil, nil),
            ("ldap://[2001:db8::7]/c=GB?objectClass?one", "ldap", "2001:db8::7", nil, "/c=GB", "objectClass?one", nil),
            ("mailto:John.Doe@example.com", "mailto", nil, nil, "John.Doe@example.com", nil, nil),
            ("news:comp.infosystems.www.servers.unix", "news", nil, nil, "comp.infosystems.www.servers.unix", nil, nil),
            ("tel:+1-816-555-1212", "tel", nil, nil, "+1-816-555-1212", nil, nil),
            ("telnet://192.0.2.16:80/", "telnet", "192.0.2.16", 80, "/", nil, nil),
            (
                "urn:oasis:names:specification:docbook:dtd:xml:4.1.2", "urn", nil, nil,
                "oasis:names:specification:docbook:dtd:xml:4.1.2", nil, nil
            ),
            (
                "foo://example.com:8042/over/there?name=ferret#nose", "foo", "example.com", 8042, "/over/there",
                "name=ferret", "nose"
            ),
            ("urn:example:animal:ferret:nose", "urn", nil, nil, "example:animal:ferret:nose", nil, nil),
            ("file:///etc/fstab", "file", "", nil, "/etc/fstab", nil, nil),
            ("x:?q#f", "x", nil, nil, "", "q", "f"),
            ("x:#", "x", nil, nil, "", nil, ""),
        ]
        for (text, scheme, host, port, path, query, fragment) in examples {
            let url = try URLParts(text)
            #expect(url.scheme.text == scheme)
            #expect(url.host == host, "\(text)")
            #expect(url.port == port)
            #expect(url.path == path)
            #expect(url.query == query, "\(text)")
            #expect(url.fragment == fragment, "\(text)")
            #expect(url.user == nil)
            #expect(url.uri == text)
        }
    }

    @Test("user and password are separated at the first colon, and decoded")
    func userInformation() throws {
        let url = try URLParts("x-notes://ann%40home:p%3Aw:more@example.org")
        #expect(url.user == "ann@home")
        #expect(url.password == "p:w:more")
        #expect(url.host == "example.org")
        #expect(url.path == "")
    }

    @Test("the scheme is lower-case whatever was written, the host is as it was written")
    func caseOfLetters() throws {
        let url = try URLParts("HTTPS://WWW.Example.ORG:0443/A")
        #expect(url.scheme.text == "https")
        #expect(url.host == "WWW.Example.ORG")
        #expect(url.port == 443)
        #expect(url.text == "HTTPS://WWW.Example.ORG:0443/A")
    }

    @Test("IPv6 addresses are checked, zones and addresses of the future among them")
    func addresses() throws {
        #expect(try URLParts("http://[::ffff:192.0.2.1]/").host == "::ffff:192.0.2.1")
        #expect(try URLParts("http://[fe80::1%25eth0]:80/").host == "fe80::1%eth0")
        #expect(try URLParts("http://[v7.a:b]/").host == "v7.a:b")
        for host in ["[zz]", "[1::2::3]", "[]", "[192.0.2.1]", "[v.x]", "[v7.]", "[vx.y]", "[fe80::1%25]", "[12345::]"]
        {
            #expect(throws: URLPartsError.address, "\(host)") { try URLParts("http://\(host)/") }
        }
    }

    @Test("ports fit 16 bits, and an empty one is none")
    func ports() throws {
        #expect(try URLParts("http://h:65535/").port == 65_535)
        #expect(try URLParts("http://h:/").port == nil)
        #expect(throws: URLPartsError.port) { try URLParts("http://h:65536/") }
        for port in ["-1", "80a", "9999999999999999999999", "%38"] {
            #expect(throws: URLPartsError.self) { try URLParts("http://h:\(port)/") }
        }
    }

    @Test("segments and query items are decoded one by one, so that %2F is no border")
    func decoding() throws {
        let url = try URLParts("x:///a%2Fb//c%20d?q=1%262&empty=&flag&a=b=c&=v&&+")
        #expect(url.path == "/a%2Fb//c%20d")
        #expect(url.pathSegments == ["a/b", "", "c d"])
        #expect(
            url.queryItems == [
                .init(name: "q", value: "1&2"), .init(name: "empty", value: ""), .init(name: "flag", value: nil),
                .init(name: "a", value: "b=c"), .init(name: "", value: "v"), .init(name: "+", value: nil),
            ])
        #expect(try URLParts("x:").pathSegments == [])
        #expect(try URLParts("x:").queryItems == nil)
    }

    @Test("text that is not UTF-8 when decoded is not decoded")
    func notText() throws {
        for escape in ["%FF", "%C3", "%00", "%0A", "%1B", "%E2%80%AE", "%ED%A0%80"] {
            let url = try URLParts("x:///a/\(escape)?k=\(escape)")
            #expect(url.pathSegments == nil)
            #expect(url.queryItems == nil)
            #expect(url.path == "/a/\(escape)")
            #expect(throws: URLPartsError.undecodable) { try URLParts("x://\(escape)/") }
            #expect(throws: URLPartsError.undecodable) { try URLParts("x://\(escape)@h/") }
        }
    }

    @Test("international URLs are kept as they are, and have an ASCII form")
    func international() throws {
        let url = try URLParts("https://bücher.example/straße?q=世#ü")
        #expect(url.text == "https://bücher.example/straße?q=世#ü")
        #expect(url.host == "bücher.example")
        #expect(url.uri == "https://b%C3%BCcher.example/stra%C3%9Fe?q=%E4%B8%96#%C3%BC")
        #expect(url.pathSegments == ["straße"])
        #expect(try URLParts("https://xn--bcher-kva.example/").host == "xn--bcher-kva.example")
    }

    @Test("a text that is no URL is refused")
    func refused() {
        let malformed = [
            "http://h/%zz", "http://h/%", "http://a@b@c/", "http://a/b\\c", "http://h/[x]", "http://h/#a#b",
            "http://[::1",
            "x:<a>", "x:{a}", "x:a|b", "x:\"", "x:^", "x:`",
        ]
        for text in malformed { #expect(throws: URLPartsError.malformed, "\(text)") { try URLParts(text) } }
        for text in ["", "a", "//h/p", "1x:y", ":x", "a b:c", "/a:b", "ü:x"] {
            #expect(throws: URLPartsError.self, "\(text)") { try URLParts(text) }
        }
        for text in ["x:a b", "x:a\n", "x:\u{0}", "x:\u{7F}", "x:\u{202E}a", "x:\u{A0}", "x:\u{85}", "x:\u{2028}"] {
            #expect(throws: URLPartsError.unprintable, "\(text)") { try URLParts(text) }
        }
    }

    @Test("a URL may have 8 KiB and no more")
    func length() throws {
        let limit = CatalogLimits.urlBytes
        _ = try URLParts("x:" + String(repeating: "a", count: limit - 2))
        #expect(throws: URLPartsError.tooLong) { try URLParts("x:" + String(repeating: "a", count: limit - 1)) }
        // Three bytes of text may become nine of ASCII.
        _ = try URLParts("x:" + String(repeating: "世", count: (limit - 2) / 3))
    }

    @Test("the JSON has the parts that are there")
    func json() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let full = try encoder.encode(URLParts("x-n://u:p@h:8/a%20b?k=v#f"))
        #expect(
            String(decoding: full, as: UTF8.self)
                == #"{"fragment":"f","host":"h","password":"p","path":"/a%20b","pathSegments":["a b"],"port":8,"#
                + #""query":"k=v","queryItems":[{"name":"k","value":"v"}],"scheme":"x-n","url":"x-n://u:p@h:8/a%20b?k=v#f","#
                + #""user":"u"}"#)
        let small = try encoder.encode(URLParts("tel:+1"))
        #expect(
            String(decoding: small, as: UTF8.self)
                == #"{"path":"+1","pathSegments":["+1"],"scheme":"tel","url":"tel:+1"}"#)
    }

    @Test("any text is taken apart or refused, never fatal", arguments: [UInt64](1...4))
    func anyText(seed: UInt64) {
        var random = Seeded(seed)
        let pieces = [
            "x", ":", "/", "//", "?", "#", "@", "[", "]", "%", "%25", "%41", "::1", "v1.", "80", "99999", "ü", "世",
            "\u{301}", "&", "=", ".", "..", " ", "\u{0}", "a", "http", "%FF", "\u{202E}",
        ]
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...12, using: &random)
            let text = "x:" + (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let url = try? URLParts(text) else { continue }
            #expect(url.uri.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            _ = (url.pathSegments, url.queryItems)
        }
    }
}
