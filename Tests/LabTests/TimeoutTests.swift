import Foundation
import Testing

/// Receivers that are busy, that keep a sender waiting, or whose receipts do not fit.
@Suite("The timeouts of a sender on loopback", .serialized, .timeLimit(.minutes(3)))
struct TimeoutTests {
    private struct Facts: Encodable {
        struct Receipt: Encodable {
            var state = "stored"
            var name = "note.txt"
            var size = 5
            /// The digest of "hello".
            var digest = "sha-256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        }

        var name = "kitchen"
        var reason = "no"
        var answer = "accepted"
        var stall: String?
        var closing: Int?
        var busy: Int?
        var receipt: Receipt?
    }

    /// Sends to a stranger.
    private func send(_ facts: Facts, _ flags: [String]) async throws -> (outcome: ProgramResult, asked: [String]) {
        try await withTemporaryFolder { folder in
            let (study, mallory) = (Host.loopback(folder + "/study"), Host.loopback(folder + "/mallory"))
            try "hello".write(toFile: folder + "/note.txt", atomically: false, encoding: .utf8)
            let text = String(decoding: try JSONEncoder().encode(facts), as: UTF8.self)
            return try await mallory.withStranger("serve", [text]) { stranger in
                let port = try await stranger.event("listening").port ?? 0
                let outcome = try await study.run(
                    arguments: ["send", "note.txt", "--to", "127.0.0.1:\(port)"] + flags, in: folder)
                return (outcome, await stranger.events.compactMap(\.path))
            }
        }
    }

    @Test(
        "a resolver that never answers holds no command longer than its --timeout",
        .enabled(if: Lab.isPossible, "NOT RUN: needs root, for a resolver of its own"))
    func silentResolver() async throws {
        try await withTemporaryFolder { folder in
            // The C library would wait for minutes. The resolver ends with the command, and never answers.
            try "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n"
                .write(toFile: folder + "/resolv.conf", atomically: false, encoding: .utf8)
            try "hosts: files dns\n".write(toFile: folder + "/nsswitch.conf", atomically: false, encoding: .utf8)
            try "x".write(toFile: folder + "/a", atomically: false, encoding: .utf8)
            let resolver = """
                import socket, subprocess, sys
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                s.bind(('127.0.0.1', 53))
                end = subprocess.run(sys.argv[1:]).returncode
                s.setblocking(False)
                print('asked for', s.recv(512)[13:19].decode())
                sys.exit(end)
                """
            let script = """
                ip link set lo up
                mount --bind resolv.conf /etc/resolv.conf && mount --bind nsswitch.conf /etc/nsswitch.conf
                exec python3 -c "$@"
                """
            for (name, exit) in [("nosuch", 10), ("nosuch:9238", 11)] {
                let outcome = try await Host.loopback(folder + "/study").run(
                    "/usr/bin/unshare",
                    [
                        "-m", "-n", "sh", "-c", script, "sh", resolver, Programs.waft, "send", "a", "--to", name,
                        "--timeout", "1",
                    ], in: folder)
                #expect(outcome.exit == exit, "\(outcome)")
                #expect(outcome.output.contains("asked for nosuch"), "\(outcome)")
            }
        }
    }

    @Test(
        "a peer that reports for ever that it is at work is 15, at any stage",
        arguments: ["card", "offers", "contents"])
    func stalling(stage: String) async throws {
        let (outcome, asked) = try await send(Facts(stall: stage), ["--timeout", "3"])
        #expect(outcome.exit == 15, "\(outcome.errors)")
        let words = stage == "offers" ? ": nobody answered within 3 s\n" : "no answer from 127.0.0.1"
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
        #expect(asked.contains { $0.hasSuffix("/" + stage) })
    }

    @Test("a peer that is busy, or closes the connection at once, is 15 when the time is up, and not before")
    func busy() async throws {
        let (busy, asked) = try await send(Facts(busy: 1_000), ["--timeout", "3", "--json"])
        #expect(busy.exit == 15)
        #expect(busy.events.map(\.event) == ["offered", "busy", "answered", "failed", "done"], "\(busy.output)")
        #expect(busy.events.compactMap(\.exit) == [15, 15])
        #expect(asked.count { $0.hasSuffix("/offers") } > 1)
        let (full, _) = try await send(Facts(closing: 1_000), ["--timeout", "3"])
        #expect(full.exit == 15, "\(full.errors)")
        #expect(full.errors.contains("full"), "\(full.errors)")
        #expect(full.errors.contains("try again later"), "\(full.errors)")
    }

    @Test("a peer that is busy or full for a moment gets the items")
    func forAMoment() async throws {
        let (outcome, _) = try await send(Facts(closing: 2, busy: 2, receipt: .init()), [])
        #expect(outcome.exit == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("stored as note.txt, 5 bytes"), "\(outcome.output)")
    }

    @Test("a receipt of another size is 17, one with a path for a name is 11")
    func receipts() async throws {
        let (size, _) = try await send(Facts(receipt: .init(size: 7)), [])
        #expect(size.exit == 17)
        #expect(size.errors.contains("not believed: it names 7 bytes where 5 were sent"), "\(size.errors)")
        let (path, _) = try await send(Facts(receipt: .init(name: "../../etc/passwd")), [])
        #expect(path.exit == 11)
        #expect(path.errors.contains("does not keep to the protocol"), "\(path.errors)")
        #expect(!path.errors.contains("passwd"))
    }
}
