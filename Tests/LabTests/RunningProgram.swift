import Foundation
import Glibc
import Subprocess
import SystemPackage
import Testing

/// The output of a running program, on both streams.
actor Transcript {
    private var bytes: [UInt8] = []
    private var isOver = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Whether the program has ended, or has closed its outputs.
    var hasEnded: Bool { isOver }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    func add(_ more: some Sequence<UInt8>) {
        bytes += more
        wake()
    }

    func end() {
        isOver = true
        wake()
    }

    /// Waits for the first result of `find` on the text.
    /// - Throws: `EventLog.Ended` when the program ends without it.
    func first<Found: Sendable>(_ what: String, _ find: @Sendable (String) -> Found?) async throws -> Found {
        while true {
            if let found = find(text) { return found }
            if isOver { throw EventLog.Ended(description: "the program ended without \(what): \(text)") }
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    /// Waits until the output has `words` this number of times.
    func says(_ words: String, times: Int = 1) async throws {
        _ = try await first("\(times) times \(words)") { text in
            text.ranges(of: words).count >= times ? true : nil
        }
    }

    /// Waits until a yes or a no is asked for below the occurrence of `words` with this number: what is typed before the
    /// question stands there is forgotten.
    func asks(below words: String, times: Int = 1) async throws {
        _ = try await first("a question below \(times) times \(words)") { text in
            let ranges = text.ranges(of: words)
            return ranges.count >= times && text[ranges[times - 1].upperBound...].contains("? [y/n] ") ? true : nil
        }
    }

    private func wake() {
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

/// A program that a test controls while it runs. Its standard input is open until the test is done with it.
struct RunningProgram: Sendable {
    let transcript: Transcript
    let process: ProcessIdentifier
    let type: @Sendable (String) async throws -> Void

    /// Types an answer to the question of a pairing when it is asked: what is typed earlier is forgotten.
    func compare(_ answer: String) async throws {
        try await transcript.says("Does the other screen show the same?")
        try await type(answer + "\n")
    }

    /// The same on both sides of a pairing. Both ask before one of them can end it.
    func compare(_ answer: String, with other: RunningProgram, _ otherAnswer: String) async throws {
        for side in [self, other] { try await side.transcript.says("Does the other screen show the same?") }
        try await type(answer + "\n")
        try await other.type(otherAnswer + "\n")
    }
}

extension Host {
    /// Runs a program beside `body`; then its input ends and, with `signal`, so does the program.
    /// - Returns: the result of `body`, the exit code, and the output of the program.
    @discardableResult
    func withProgram<Result: Sendable>(
        _ program: String, _ arguments: [String], signal: Signal? = nil, in folder: String? = nil,
        _ body: @Sendable (RunningProgram) async throws -> Result
    ) async throws -> (result: Result, exit: Int, text: String) {
        // Text for a program that has gone is an error then, and no end of the tests. Programs begin without this.
        Glibc.signal(SIGPIPE, SIG_IGN)
        let transcript = Transcript()
        let outcome = try await Subprocess.run(
            configuration(program, arguments, in: folder), input: .inputWriter, output: .sequence,
            error: .combinedWithOutput
        ) { execution -> Swift.Result<Result, any Error> in
            let reading = Task {
                for try await piece in execution.standardOutput {
                    await transcript.add(piece.withUnsafeBytes(Array.init))
                }
                await transcript.end()
            }
            let writer = execution.standardInputWriter
            let running = RunningProgram(transcript: transcript, process: execution.processIdentifier) { text in
                _ = try await writer.write(text)
            }
            let outcome: Swift.Result<Result, any Error>
            do { outcome = .success(try await body(running)) } catch { outcome = .failure(error) }
            try? await writer.finish()
            if let signal { kill(execution.processIdentifier.value, signal.rawValue) }
            if case .failure = outcome { kill(execution.processIdentifier.value, SIGTERM) }
            _ = try? await reading.value
            return outcome
        }
        if LineContracts.apply(to: program, arguments) {
            // Both outputs are one here. A line may be incomplete if a test kills the program.
            let lines = await transcript.text.split(separator: "\n").filter { $0.first == "{" && $0.last == "}" }
            LineContracts.hold(lines, of: arguments)
        }
        return (try outcome.closureResult.get(), outcome.terminationStatus.code, await transcript.text)
    }

    /// Runs `waft` at a terminal of its own beside `body`. Signals do not reach it: Ctrl-C is typed.
    @discardableResult
    func atTerminal<Result: Sendable>(
        _ arguments: [String], in folder: String? = nil,
        _ body: @Sendable @escaping (RunningProgram) async throws -> Result
    ) async throws -> (result: Result, exit: Int, text: String) {
        // Without `exec`, a shell that stays between dies of Ctrl-C itself, and its exit code is not that of the program.
        let command = (["exec"] + ([Programs.waft] + arguments).map { "'\($0)'" }).joined(separator: " ")
        let words = ["--quiet", "--flush", "--return", "--echo", "never", "--command", command, "/dev/null"]
        return try await withProgram("/usr/bin/script", words, in: folder) { running in
            do {
                return try await body(running)
            } catch {
                try? await running.type("\u{3}")
                throw error
            }
        }
    }
}

// MARK: A peer that is no Waft

/// The output of `Tests/Stranger`.
struct StrangerEvent: Decodable, Sendable {
    var event: String
    var port: Int?
    var id: String?
    /// Digits on the side that began the pairing, and on the other one.
    var initiator: String?
    var responder: String?
    var step: String?
    var reason: String?
    var path: String?
    var status: Int?
    var answer: String?
    var body: String?
    var busy: Int?
    var declined: Int?
    var closed: Int?
}

/// A peer with its own key that need not keep the protocol.
struct Stranger: Sendable {
    static let script = Programs.root + "/Tests/Stranger/stranger.py"

    let running: RunningProgram

    /// Waits for the last of `count` events of that name.
    func event(_ name: String, number count: Int = 1) async throws -> StrangerEvent {
        try await running.transcript.first("\(count) events \(name)") { text in
            let found = Self.events(text).filter { $0.event == name }
            return found.count >= count ? found[count - 1] : nil
        }
    }

    /// Waits for the `count`th matching event.
    func event(
        number count: Int = 1, where isMeant: @escaping @Sendable (StrangerEvent) -> Bool
    ) async throws -> StrangerEvent {
        try await running.transcript.first("\(count) such events") { text in
            let found = Self.events(text).filter(isMeant)
            return found.count >= count ? found[count - 1] : nil
        }
    }

    var events: [StrangerEvent] { get async { Self.events(await running.transcript.text) } }

    private static func events(_ text: String) -> [StrangerEvent] {
        text.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(StrangerEvent.self, from: Data($0.utf8))
        }
    }
}

extension Host {
    /// Runs a stranger beside `body`. Its key is in the home of this host, under `key`.
    @discardableResult
    func withStranger<Result: Sendable>(
        _ role: String, key: String = "stranger", _ words: [String],
        _ body: @Sendable @escaping (Stranger) async throws -> Result
    ) async throws -> Result {
        let arguments = ["python3", "-B", Stranger.script, role, home + "/" + key] + words
        return try await withProgram("/usr/bin/env", arguments) { running in
            try await body(Stranger(running: running))
        }.result
    }

    /// Offers as a stranger, and waits for the result.
    func offer(_ message: some Encodable & Sendable, to address: String, key: String = "stranger") async throws
        -> [StrangerEvent]
    {
        let text = String(decoding: try JSONEncoder().encode(message), as: UTF8.self)
        return try await withStranger("offer", key: key, [address, text]) { stranger in
            _ = try await stranger.event("done")
            return await stranger.events
        }
    }

    /// The id of the key of this host's peer.
    func ownID() async throws -> String {
        struct Me: Decodable { var id: String }
        let outcome = try await run(arguments: ["contacts", "me", "--json"])
        try #require(outcome.exit == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Me.self, from: Data(outcome.output.utf8)).id
    }

    /// Makes another peer a contact of this one's.
    func allow(_ other: Host, _ name: String, _ flags: [String] = []) async throws {
        let outcome = try await run(arguments: ["contacts", "allow", try await other.ownID(), "--name", name] + flags)
        try #require(outcome.exit == 0, "\(outcome.errors)")
    }

    /// The host's contacts as JSON; empty without contacts.
    var contactsFile: String { (try? String(contentsOfFile: home + "/state/contacts.json", encoding: .utf8)) ?? "" }
}
