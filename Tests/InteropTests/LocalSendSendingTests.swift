import Foundation
import Testing

/// Sending to two independent implementations of LocalSend.
@Suite(
    "Sending to LocalSend's programs", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Programs.localsendIsPossible, "run Scripts/setup-interop, and the tests as root"))
struct LocalSendSendingTests {
    /// Bytes of the large file.
    private static let largeBytes = 200_000_000

    private func send(
        _ both: LocalSendLab, _ words: [String], to name: String = LocalSendLab.studyAddress + ":53317"
    ) async throws -> InteropLab.ProgramResult {
        try await both.waft(["send", "--to", name, "--timeout", "45"] + words, in: both.kitchen)
    }

    private func expectReceived(_ names: [String], _ both: LocalSendLab) throws {
        for name in names {
            #expect(
                Samples.areEqual(both.kitchen + "/" + name, both.received + "/" + name), "\(name) arrived otherwise")
        }
    }

    private func receivedNames(_ both: LocalSendLab) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: both.received)
    }

    @Test("files of all kinds, 500 at once and a folder are sent to localsendd")
    func daemon() async throws {
        try await LocalSendLab.with { both in
            // It takes no empty files.
            let names =
                try Samples.write(to: both.kitchen, largeBytes: Self.largeBytes).filter { $0 != "empty" }
                + LocalSendLab.odd(to: both.kitchen)
            let small = try LocalSendLab.small(500, to: both.kitchen)
            try FileManager.default.createDirectory(atPath: both.kitchen + "/trip", withIntermediateDirectories: true)
            try "deep".write(toFile: both.kitchen + "/trip/inside.txt", atomically: true, encoding: .utf8)
            try await both.withDaemon { _ in
                let sent = try await send(both, names)
                #expect(sent.exit == 0, "\(sent.errors)")
                try expectReceived(names, both)
                let many = try await send(both, small)
                #expect(many.exit == 0, "\(many.errors)")
                try expectReceived(small, both)
                // It flattens folders.
                let folder = try await send(both, ["trip"])
                #expect(folder.exit == 0, "\(folder.errors)")
                #expect(Samples.areEqual(both.kitchen + "/trip/inside.txt", both.received + "/inside.txt"))
                // It announces itself every 30 seconds.
                let text = try await send(both, ["--text", "back at six"], to: "py")
                #expect(text.exit == 0, "\(text.errors)")
            }
        }
    }

    @Test("files of all kinds are sent to localsend-cli, which reads no chunks and speaks HTTP/1.0")
    func commandLine() async throws {
        try await LocalSendLab.with { both in
            let names =
                try Samples.write(to: both.kitchen, largeBytes: Self.largeBytes) + LocalSendLab.odd(to: both.kitchen)
            try await both.withCLI { _ in
                let sent = try await send(both, names, to: "localsend-cli@study")
                #expect(sent.exit == 0, "\(sent.errors)")
                try expectReceived(names, both)
            }
        }
    }

    @Test("a PIN: without it, and with a wrong one, waft says what to do, and sends nothing")
    func pin() async throws {
        try await LocalSendLab.with { both in
            let names = try LocalSendLab.odd(to: both.kitchen)
            try await both.withDaemon(["--unattended", "--pin", "471100"]) { _ in
                let without = try await send(both, names)
                #expect(without.exit == 12 && without.errors.contains("--pin"), "\(without.exit) \(without.errors)")
                let wrong = try await send(both, ["--pin", "471101"] + names)
                #expect(wrong.exit == 12 && wrong.errors.contains("PIN"), "\(wrong.exit) \(wrong.errors)")
                #expect(try receivedNames(both).isEmpty)
                let right = try await send(both, ["--pin", "471100"] + names)
                #expect(right.exit == 0, "\(right.errors)")
                try expectReceived(names, both)
            }
            try await both.withCLI(["--pin", "1"]) { _ in
                let without = try await send(both, names)
                #expect(without.exit == 12 && without.errors.contains("--pin"), "\(without.exit) \(without.errors)")
                let right = try await send(both, ["--pin", "1"] + names)
                #expect(right.exit == 0, "\(right.errors)")
            }
        }
    }

    @Test("a receiver that declines: exit code 12")
    func declined() async throws {
        try await LocalSendLab.with { both in
            let names = try LocalSendLab.odd(to: both.kitchen)
            try await both.withDaemon([]) { _ in
                // localsendd asks its user.
                try await both.watching {
                    async let sending = send(both, names)
                    try await both.until { try await both.control("status").output.contains("Incoming from") }
                    let rejected = try await both.control("reject")
                    #expect(rejected.exit == 0, "\(rejected.errors)")
                    let sent = try await sending
                    #expect(sent.exit == 12, "\(sent.exit) \(sent.errors)")
                    #expect(try receivedNames(both).isEmpty)
                }
            }
        }
    }

    @Test("a receiver that is killed in the middle: exit code 11, and after Ctrl-C the other side is told")
    func brokenOff() async throws {
        try await LocalSendLab.with { both in
            let large = try Samples.write(to: both.kitchen, largeBytes: Self.largeBytes)[4]
            try await both.lab.call(["rate", both.lab.name, "kitchen", "80mbit"])
            @Sendable func isComing() throws -> Bool { try !receivedNames(both).isEmpty }
            try await both.withDaemon { _ in
                try await both.sending(["--to", LocalSendLab.studyAddress + ":53317", both.kitchen + "/" + large]) {
                    process in
                    try await both.until { try isComing() }
                    kill(process, SIGINT)
                    try await both.until { try !isComing() }
                }
                #expect(try await both.control("status").output.contains("Last result: recv_"))
            }
            try await both.withDaemon { process in
                async let sending = send(both, ["--timeout", "8", large])
                try await both.until { try isComing() }
                kill(process, SIGKILL)
                let sent = try await sending
                #expect(sent.exit == 11, "\(sent.exit) \(sent.errors)")
            }
        }
    }
}
