import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import TestSupport
import Testing
import WebPages

@testable import WebDialect

@Suite("The doors of the page", .timeLimit(.minutes(1)))
struct DoorTests {
    @Test("the secret gives a cookie, and the cookie the page")
    func secret() async throws {
        try await WebLoopback.run { page async throws in
            let answer = try await page.get(page.session.path)
            #expect(answer.code == 200)
            #expect(answer.text.contains("content=\"0;url=\(page.session.roomPath)\""))
            #expect(answer.text.contains("kitchen &lt;1&gt;"))
            let cookie = try #require(answer.headers.first(name: "set-cookie"))
            #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
            let guest = try await page.enter()
            let shown = try await guest.get("/")
            #expect(shown.text.contains(#"class="takes plain""#))
            #expect(!shown.text.contains("{{"))
        }
    }

    @Test("with TLS the cookie is for secure connections only")
    func secureCookie() async throws {
        try await WebLoopback.run(.accept, WebSession()) { page async throws in
            let answer = try await page.get(page.session.path)
            let cookie = try #require(answer.headers.first(name: "set-cookie"))
            #expect(cookie.hasPrefix("__Host-waft-guest=") && cookie.hasSuffix("; Secure"))
        }
    }

    @Test("a wrong secret, and any path while no session is open, are not found")
    func unknown() async throws {
        try await WebLoopback.run { page async throws in
            #expect(try await page.get("/g/" + WebSecret.make()).code == 404)
            #expect(try await page.get("/g/").code == 404)
            #expect(try await page.get("/u/" + WebSecret.make()).code == 404)
            await page.server.close()
            for path in ["/", page.session.path, "/page.css", "/words.json"] {
                #expect(try await page.get(path).code == 404)
            }
        }
    }

    @Test("after its time a session is not found")
    func end() async throws {
        try await WebLoopback.run(.accept, WebSession(isPlain: true, end: .now)) { page async throws in
            #expect(try await page.get(page.session.path).code == 404)
        }
    }

    @Test("a session for one guest lets in no second one, but the first one again")
    func once() async throws {
        try await WebLoopback.run(.accept, WebSession(pin: "123456", isPlain: true, isOnce: true)) {
            page async throws in
            let guest = try await page.enter()
            #expect(try await page.get(page.session.path).code == 404)
            #expect(try await page.get("/u/\(page.session.secret)").code == 404)
            #expect(try await page.send(.POST, "/pin", body: ByteBuffer(string: "pin=123456")).code == 404)
            let again = try await page.get(page.session.path, ["cookie": guest.cookie])
            #expect(again.code == 200 && again.headers.first(name: "set-cookie") == nil)
            #expect(try await page.get(page.session.path, ["cookie": guest.cookie + "x"]).code == 404)
            #expect(try await guest.get("/").code == 200)
        }
    }

    @Test("a guest who opens the address again, or types the PIN again, is the same guest")
    func again() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let offer = try await guest.offer(("a", 1))
            for body in [nil, ByteBuffer(string: "pin=123456")] {
                let answer = try await page.send(
                    body == nil ? .GET : .POST, body == nil ? page.session.path : "/pin", ["cookie": guest.cookie],
                    body: body)
                #expect(answer.headers.first(name: "set-cookie") == nil, "\(answer.code)")
            }
            #expect(try await guest.get("/offers/\(offer)").code == 200)
            let wrong = try await page.send(
                .POST, "/pin", ["cookie": guest.cookie], body: ByteBuffer(string: "pin=000000"))
            #expect(wrong.code == 403, "a cookie alone opens nothing")
        }
    }

    @Test(
        "a cookie without the page's path opens nothing, and the path without the cookie opens nothing",
        arguments: ["/", "/p/00000000000000000000000000/"])
    func cookieAlone(_ place: String) async throws {
        let item = MemorySource.file("plan.txt", Array("x".utf8))
        try await WebLoopback.run(.accept, WebSession(pin: "123456", isPlain: true, items: [item])) {
            page async throws in
            let guest = try await page.enter()
            #expect(try await guest.get("/d/1/plan.txt").text == "x")
            for path in ["", "d/1/plan.txt", "all.zip"] {
                let stolen = try await page.get(place + path, ["cookie": guest.cookie])
                #expect([200, 403, 404].contains(stolen.code) && !stolen.text.contains("plan.txt"))
                #expect(stolen.code != 200 || stolen.text.contains(#"class="pin plain""#))
                #expect(try await page.get(guest.path("/" + path)).code == (path.isEmpty ? 200 : 403))
            }
        }
    }

    @Test("without a cookie only the PIN is asked for, and nothing of the session is shown")
    func pinPage() async throws {
        let item = MemorySource.file("plan.txt", Array("x".utf8))
        try await WebLoopback.run(.accept, WebSession(isPlain: true, items: [item])) { page async throws in
            let answer = try await page.get("/")
            #expect(answer.text.contains(#"class="pin plain""#))
            #expect(!answer.text.contains("plan.txt"))
            #expect(try await page.get("/d/1/plan.txt").code == 403)
            #expect(try await page.send(.POST, "/offers", body: ByteBuffer(string: "{}")).code == 403)
        }
    }

    @Test("after five wrong PINs an address waits, even with the right one")
    func wrongPIN() async throws {
        try await WebLoopback.run { page async throws in
            for _ in 1...5 {
                let answer = try await page.send(.POST, "/pin", body: ByteBuffer(string: "pin=654321"))
                #expect(answer.code == 403)
                #expect(answer.text.contains("That PIN is not right."))
            }
            let answer = try await page.send(.POST, "/pin", body: ByteBuffer(string: "pin=123456"))
            #expect(answer.code == 429)
            #expect(answer.headers.first(name: "set-cookie") == nil)
        }
    }

    @Test(
        "the page has a new PIN after fifty wrong ones, and none after three times; guests with the code still get in")
    func guessedPIN() async throws {
        try await WebLoopback.run(tries: 1_000) { page async throws in
            let inside = try await page.enter()
            let type = { @Sendable (pin: String) in
                try await page.send(.POST, "/pin", body: ByteBuffer(string: "pin=\(pin)"))
            }
            var pins = [try #require(page.session.pin.text)]
            while let pin = page.session.pin.text {
                while page.session.pin.text == pin { #expect(try await type("wrong").code == 403) }
                #expect(try await type(pin).code == (page.session.pin.text == nil ? 429 : 403))
                guard let new = page.session.pin.text else { break }
                #expect(try await type(new).code == 303)
                pins.append(new)
            }
            #expect(Set(pins).count == 3)
            #expect(try await type("").code == 429)
            #expect(try await inside.send(.POST, "/pin", [:], "pin=wrong").code == 303)
            #expect(try await page.get(page.session.path).headers.first(name: "set-cookie") != nil)
            let told = page.events.all.compactMap {
                if case .newPIN(let pin) = $0 { .some(pin) } else { nil as String?? }
            }
            #expect(told == pins.dropFirst().map(Optional.some) + [nil])
            #expect(page.events.all.count { if case .wrongPIN = $0 { true } else { false } } == 1)
        }
    }

    @Test("the right PIN gives a cookie, and leads to the page")
    func rightPIN() async throws {
        try await WebLoopback.run { page async throws in
            let answer = try await page.send(.POST, "/pin", body: ByteBuffer(string: "pin=123+456"))
            #expect(answer.code == 303)
            #expect(answer.headers.first(name: "location") == page.session.roomPath)
            #expect(answer.headers.first(name: "set-cookie") != nil)
        }
    }

    @Test("a link-local address is this host with the caller's zone, and another address is not")
    func zones() {
        let own: Set = ["[fe80::1]:7443", "[fd00::1]:7443"]
        func isOwn(_ host: String) -> Bool {
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["host": host])
            return RequestGuard.isForThisHost(head, own)
        }
        for host in ["[fe80::1]:7443", "[fe80::1%25eth0]:7443", "[FE80::1%wlan0]:7443"] { #expect(isOwn(host)) }
        for host in [
            "[fe80::2%25eth0]:7443", "[fd00::1%25eth0]:7443", "[fe80::1%25eth0:7443", "[fe80::1]:1", "fe80::1",
        ] {
            #expect(!isOwn(host), "\(host)")
        }
    }

    @Test("a request for another host is refused with 421", arguments: ["evil.example", "127.0.0.1", "127.0.0.1:1"])
    func rebinding(_ host: String) async throws {
        try await WebLoopback.run { page async throws in
            #expect(try await page.get(page.session.path, ["host": host]).code == 421)
        }
    }

    @Test(
        "a form of another page is refused with 403",
        arguments: [
            ["origin": "http://evil.example"], ["origin": "null"], ["sec-fetch-site": "cross-site"],
            ["sec-fetch-site": "same-site"], ["origin": "https://127.0.0.1"],
        ])
    func forgery(_ fields: [String: String]) async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let fields = fields.merging(["content-type": "application/json"]) { first, _ in first }
            #expect(try await guest.send(.POST, "/offers", fields, "{}").code == 403)
            #expect(try await page.send(.POST, "/pin", fields, body: ByteBuffer(string: "pin=123456")).code == 403)
        }
    }

    @Test("a form of this page is taken")
    func ownOrigin() async throws {
        try await WebLoopback.run { page async throws in
            let own = ["origin": "http://\(page.host)", "sec-fetch-site": "same-origin"]
            #expect(try await page.send(.POST, "/pin", own, body: ByteBuffer(string: "pin=123456")).code == 303)
            let hidden = ["origin": "null", "sec-fetch-site": "same-origin"]
            #expect(try await page.send(.POST, "/pin", hidden, body: ByteBuffer(string: "pin=123456")).code == 303)
        }
    }

    @Test(
        "every answer keeps foreign pages, frames and caches away",
        arguments: ["/", "/nothing", "/page.js", "/words.json"])
    func headers(_ path: String) async throws {
        try await WebLoopback.run { page async throws in
            let headers = try await page.enter().get(path).headers
            #expect(headers.first(name: "content-security-policy")?.hasPrefix("default-src 'none'") == true)
            #expect(headers.first(name: "content-security-policy")?.contains("frame-ancestors 'none'") == true)
            #expect(headers["x-content-type-options"] == ["nosniff"])
            #expect(headers["cross-origin-resource-policy"] == ["same-origin"])
            #expect(["no-store", "no-cache"].contains(headers.first(name: "cache-control")))
        }
    }

    @Test(
        "the words are in the language that the guest prefers",
        arguments: [
            ("de-AT,de;q=0.9,en;q=0.8", "de"), ("fr, en;q=0.5, de;q=0.4", "en"), ("en;q=0.1, de", "de"), ("fr", "en"),
            ("", "en"), ("de;q=0", "en"), ("*", "en"), (";;,,q=", "en"),
        ])
    func language(_ header: String, _ language: String) {
        #expect(PageWords.accepted(header).language == language)
    }

    @Test("all languages have the same words")
    func sameWords() {
        for words in PageWords.all { #expect(words.keys == PageWords.all[0].keys) }
        #expect(!PageWords.all[0].keys.isEmpty)
    }

    @Test("a secret has 26 characters, and a PIN six digits")
    func secrets() {
        #expect(WebSecret.make().utf8.count == 26)
        #expect(WebSecret.make() != WebSecret.make())
        #expect(WebSecret.makePIN().utf8.allSatisfy { (0x30...0x39).contains($0) })
        #expect(WebSecret.makePIN().utf8.count == 6)
    }
}
