import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import TestSupport
import Testing

@testable import WebDialect

@Suite("Guests without script", .timeLimit(.minutes(1)))
struct SingleTests {
    private static let type = ["content-type": "multipart/form-data; boundary=BOUND"]

    private static func form(_ parts: (head: String, text: String)...) -> String {
        parts.map { "--BOUND\r\nContent-Disposition: form-data; \($0.head)\r\n\r\n\($0.text)\r\n" }.joined()
            + "--BOUND--\r\n"
    }

    @Test("a form brings a text and a file, and the page says what became of them")
    func form() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let body = Self.form(
                ("name=\"name\"", "Anna"), ("name=\"text\"", "hello\r\nyou\r\n"),
                ("name=\"file\"; filename=\"C:\\dir\\a.txt\"\r\nContent-Type: text/plain", "one\r\n--BOUNDtwo\r\n"))
            let answer = try await guest.send(.POST, "/upload", Self.type, body)
            #expect(answer.code == 200)
            #expect(answer.text.contains("Stored as a.txt"))
            #expect(page.inbox["a.txt"]?.bytes == Array("one\r\n--BOUNDtwo\r\n".utf8))
            #expect(page.inbox["hello.txt"]?.bytes == Array("hello\nyou\n".utf8), "a form has its own line breaks")
            #expect(page.inbox.stored.count == 2)
            #expect(page.consent.asked.all.first?.offer.senderName == "Anna")
        }
    }

    @Test("a form brings all its files, and the texts and the name between them")
    func manyFiles() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let body = Self.form(
                ("name=\"file\"; filename=\"a\"", "one"), ("name=\"name\"", "Anna"),
                ("name=\"upload\"; filename=\"b\"", "two"), ("name=\"text\"", "last"))
            let answer = try await guest.send(.POST, "/upload", Self.type, "\r\n" + body)
            #expect(answer.code == 200)
            #expect(answer.text.contains("Stored as a · Stored as b"))
            #expect(page.inbox["a"]?.bytes == Array("one".utf8))
            #expect(page.inbox["b"]?.bytes == Array("two".utf8))
            #expect(page.inbox.stored.count == 3)
            #expect(page.consent.asked.all.map(\.offer.senderName) == ["a guest", "Anna", "Anna"])
        }
    }

    @Test("a field file without the name of a file is refused in words")
    func fileWithoutName() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let answer = try await guest.send(.POST, "/upload", Self.type, Self.form(("name=\"file\"", "one")))
            #expect(answer.code == 400)
            #expect(answer.text.contains("its field file has no name of a file"))
        }
    }

    @Test("the answer to a form names the parts that were not taken, and nothing of the page is lost in silence")
    func partsThatAreNotTaken() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let file = (head: "name=\"file\"; filename=\"a\"", text: "one")
            let late = try await guest.send(.POST, "/upload", Self.type, Self.form(file, ("name=\"name\"", "Anna")))
            #expect(late.code == 200)
            #expect(late.text.contains("The name came behind the last file"))
            let unknown = try await guest.send(.POST, "/upload", Self.type, Self.form(file, ("name=\"txt\"", "hi")))
            #expect(unknown.code == 400)
            #expect(unknown.text.contains("Stored as a-1 · Failed"))
            #expect(unknown.text.contains("name, text and file, not txt · Nothing else of the form was taken."))
            let nameless = ("name=\"file\"; filename=\"\"", "one")
            #expect(try await guest.send(.POST, "/upload", Self.type, Self.form(nameless)).code == 400)
            #expect(page.inbox.stored.count == 2)
        }
        try await WebLoopback.run(.decline) { page async throws in
            let body = Self.form(("name=file; filename=a", "one"), ("name=file; filename=b", "two"))
            let answer = try await page.enter().send(.POST, "/upload", Self.type, body)
            #expect(answer.code == 403)
            #expect(answer.text.contains("a: Declined (no) · Nothing else of the form was taken."))
        }
    }

    @Test("a file name in a form is the name that the browser has escaped, and says if it is not UTF-8")
    func escapedNames() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let body = Self.form(("name=\"file\"; filename=\"a %22b%22.txt\"", "one"))
            #expect(try await guest.send(.POST, "/upload", Self.type, body).code == 200)
            #expect(page.inbox.names == ["a \"b\".txt"])
        }
        var bytes: [UInt8]? = Array("--B\r\nContent-Disposition: form-data; name=file; filename=\"caf".utf8)
        bytes? += [0xE9] + Array("\"\r\n\r\n".utf8)
        var reader = try #require(
            MultipartReader("multipart/form-data; boundary=B") {
                defer { bytes = nil }
                return bytes.map { ByteBuffer(bytes: $0) }
            })
        await #expect(
            throws: MultipartReader.Malformed(reason: "the head of a part, such as the name of a file, is not UTF-8")
        ) { try await reader.next() }
    }

    @Test("a form with nothing in it asks nobody")
    func nothing() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let body = Self.form(("name=\"text\"", " "), ("name=\"file\"; filename=\"\"", ""))
            let answer = try await guest.send(.POST, "/upload", Self.type, body)
            #expect(answer.code == 400)
            #expect(answer.text.contains("Nothing is chosen yet."))
            #expect(page.consent.asked.all.isEmpty)
        }
    }

    @Test("the host is asked before the file of a form is read, and a declined one is not")
    func declined() async throws {
        try await WebLoopback.run(.decline) { page async throws in
            let guest = try await page.enter()
            let text = try await RawGuest.run(page.port) { raw in
                try await raw.write(
                    "POST \(guest.path("/upload")) HTTP/1.1\r\nhost: \(page.host)\r\ncookie: \(guest.cookie)\r\n"
                        + "content-type: multipart/form-data; boundary=B\r\ncontent-length: 100000000\r\n\r\n"
                        + "--B\r\ncontent-disposition: form-data; name=file; filename=a\r\n\r\n")
                return try await raw.read(until: "</html>")
            }
            #expect(text.hasPrefix("HTTP/1.1 403"))
            #expect(text.contains("a: Declined (no)"))
        }
    }

    @Test(
        "a form that is malformed is refused with 400, and nothing of it stays",
        arguments: [
            "", "hello", "--BOUND", "--BOUND\r\n", "--BOUND\r\nContent-Disposition: form-data; name=\"file\"",
            "--BOUNDx\r\n\r\n", "--BOUND\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nhello",
            "--BOUND\r\nX: " + String(repeating: "y", count: 5_000) + "\r\n\r\n",
        ])
    func malformed(_ body: String) async throws {
        try await WebLoopback.run { page async throws in
            let answer = try await page.enter().send(.POST, "/upload", Self.type, body)
            #expect(answer.code == 400)
            #expect(page.inbox.stored.isEmpty)
            #expect(page.inbox.stagedCount == 0)
        }
    }

    @Test("the parts of a form are the same however its bytes are cut", arguments: [1, 2, 3, 7, 64, 10_000])
    func cuts(_ size: Int) async throws {
        let text = "a\r\n\r--BOUN\r\n--BOUNd\r\n-"
        let body = Array(
            Self.form(("name=x", text), ("name=\"y\"; filename=\"q\\\"z;.txt\"", ""), ("name=z", "1")).utf8)
        var rest = body[...]
        var reader = try #require(
            MultipartReader("multipart/form-data; boundary=\"BOUND\"") {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(size) }
                return ByteBuffer(bytes: rest.prefix(size))
            })
        #expect(try await reader.next()?.name == "x")
        #expect(try await reader.text(upTo: 100) == text)
        let file = try await reader.next()
        #expect(file?.fileName == "q\"z;.txt")
        #expect(try await reader.bytes() == nil)
        #expect(try await reader.next()?.name == "z")
        #expect(try await reader.text(upTo: 1) == "1")
        #expect(try await reader.next() == nil)
    }

    // MARK: Programs

    @Test("a program sends a file, and lists and fetches the items")
    func program() async throws {
        let item = MemorySource.file("plan.txt", Array("0123".utf8))
        try await WebLoopback.run(.accept, WebSession(isPlain: true, items: [item])) { page async throws in
            let path = "/u/\(page.session.secret)"
            let sent = try await page.send(.PUT, path + "/caf%C3%A9.txt", body: ByteBuffer(string: "hello"))
            #expect(sent.code == 201)
            #expect(sent.text == "stored as café.txt\n")
            #expect(try await page.get(path).text == "1\t4\tplan.txt\n")
            let fetched = try await page.get(path + "/1")
            #expect(fetched.text == "0123")
            #expect(fetched.headers.first(name: "content-disposition")?.contains("plan.txt") == true)
            #expect(try await page.get(path + "/2").code == 404)
            #expect(try await page.get("/d/1/x").code == 403)
            let forged = "waft-guest=program at \(AddressKey(v4: 1))"
            #expect(try await page.get("/d/1/x", ["cookie": forged]).code == 403)
        }
    }

    @Test("a program that waits is invited after the host has said yes")
    func invitation() async throws {
        try await WebLoopback.run(.later) { page async throws in
            let text = try await RawGuest.run(page.port) { raw in
                try await raw.write(
                    "PUT /u/\(page.session.secret)/a HTTP/1.1\r\nhost: \(page.host)\r\nexpect: 100-continue\r\n"
                        + "content-length: 5\r\n\r\n")
                _ = try await page.consent.asked.first()
                page.consent.answer(accept: true)
                #expect(try await raw.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100"))
                try await raw.write("hello")
                return try await raw.read(until: "stored as a")
            }
            #expect(text.hasPrefix("HTTP/1.1 201"))
        }
    }

    @Test("a program reads why its file is not taken")
    func refused() async throws {
        try await WebLoopback.run(.decline) { page async throws in
            let answer = try await page.send(.PUT, "/u/\(page.session.secret)/a", body: ByteBuffer(string: "hello"))
            #expect((answer.code, answer.text) == (403, "declined: no\n"))
        }
        try await WebLoopback.run(.accept, refusal: { _ in "not that" }) { page async throws in
            let answer = try await page.send(.PUT, "/u/\(page.session.secret)/a", body: ByteBuffer(string: "hello"))
            #expect(answer.code == 415)
        }
        try await WebLoopback.run(.items([ItemVerdict(.noRoom)])) { page async throws in
            let answer = try await page.send(.PUT, "/u/\(page.session.secret)/a", body: ByteBuffer(string: "hello"))
            #expect(answer.code == 507)
        }
    }

    @Test("a file that breaks off leaves nothing", arguments: ["content-length: 10", "transfer-encoding: chunked"])
    func brokenOff(_ length: String) async throws {
        try await WebLoopback.run { page async throws in
            try await RawGuest.run(page.port) { raw in
                try await raw.write(
                    "PUT /u/\(page.session.secret)/a HTTP/1.1\r\nhost: \(page.host)\r\n\(length)\r\n\r\n")
                try await raw.write(length.hasPrefix("t") ? "3\r\nhel\r\n" : "hel")
                while page.inbox.stagedCount == 0 { await Task.yield() }
            }
            while page.inbox.stagedCount > 0 || page.reception.openTransfers > 0 { await Task.yield() }
            #expect(page.inbox.stored.isEmpty)
        }
    }

    @Test(
        "a part of a file and encoded contents are never stored as the file",
        arguments: [
            (["content-range": "bytes 4-9/10"], 400), (["content-range": "bytes 0-9/10"], 400),
            (["content-encoding": "gzip"], 415), (["content-encoding": "identity"], 201),
        ])
    func parts(_ fields: [String: String], _ code: Int) async throws {
        try await WebLoopback.run { page async throws in
            let path = "/u/\(page.session.secret)/a"
            let answer = try await page.send(.PUT, path, fields, body: ByteBuffer(string: "456789"))
            #expect(answer.code == code)
            #expect(page.inbox.stored.isEmpty == (code != 201))
            #expect(page.consent.asked.all.isEmpty == (code != 201))
        }
    }

    @Test("a method that a path does not have is answered with those that it has")
    func methods() async throws {
        try await WebLoopback.run { page async throws in
            let path = "/u/\(page.session.secret)"
            for (method, path, allowed) in [
                (HTTPMethod.POST, path + "/a", "GET, HEAD, PUT"), (.DELETE, path + "/1", "GET, HEAD, PUT"),
                (.PUT, path, "GET, HEAD"), (.POST, "/page.css", "GET, HEAD"), (.GET, "/pin", "POST"),
            ] {
                let answer = try await page.send(method, path)
                #expect((answer.code, answer.headers["allow"]) == (405, [allowed]))
            }
            #expect(try await page.enter().get("/upload").headers["allow"] == ["POST"])
            // Without the secret nothing is told.
            #expect(try await page.send(.DELETE, "/u/nonsense/1").code == 404)
            #expect(try await page.send(.HEAD, "/page.css").code == 200)
            let folder = try await page.send(.PUT, path + "/a/b.txt", body: ByteBuffer(string: "x"))
            #expect(folder.code == 404)
            #expect(folder.text.contains("one name is expected"))
        }
    }

    @Test("an absolute target is the same as its path, for names of this machine only, with or without the root's dot")
    func absoluteTargets() async throws {
        try await WebLoopback.run { page async throws in
            let path = "/u/\(page.session.secret)"
            #expect(try await page.get("http://\(page.host)\(path)").code == 200)
            #expect(try await page.get("HTTPS://\(page.host)").code == 200)
            #expect(try await page.get("http://elsewhere\(path)").code == 421)
            #expect(try await page.get(path, ["host": page.host.replacing(":", with: ".:")]).code == 200)
            #expect(try await page.get(path, ["host": "elsewhere.:1"]).code == 421)
        }
    }

    @Test("names that lead elsewhere are names of files", arguments: ["%2e%2e", "a%2fb", "%00", "a%0ab"])
    func hostileNames(_ name: String) async throws {
        try await WebLoopback.run { page async throws in
            let answer = try await page.send(.PUT, "/u/\(page.session.secret)/\(name)", body: ByteBuffer(string: "x"))
            #expect(answer.code == 201)
            #expect(page.inbox.names.allSatisfy { !$0.contains("/") && $0 != ".." })
            #expect(!answer.text.dropLast().contains("\n"))
        }
    }

    @Test("paths that cannot be read are not found", arguments: ["/%", "/%zz", "/%ff", "/u", "//", "/d//x"])
    func hostilePaths(_ path: String) async throws {
        try await WebLoopback.run { page async throws in
            let code = try await page.get(path).code
            #expect(code == 403 || code == 404)
        }
    }
}
