import Foundation
import Subprocess
import SystemPackage
import Testing

/// A receiver that a test controls while it runs.
struct RunningReceiver: Sendable {
    let log: EventLog
    let process: ProcessIdentifier
    let port: Int
    let id: String
    let inbox: String

    /// `--to` for a sender on the same machine.
    var address: String { "127.0.0.1:\(port)" }

    func signal(_ signal: Signal) {
        kill(process.value, signal.rawValue)
    }

    /// Names in the Inbox except its mark, sorted.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: inbox).filter { $0 != ".waft-inbox" }.sorted()
    }

    /// The names in staging; empty if no transfer is under way.
    func staged() throws -> [String] { try inStaging().filter { !Self.isKept($0) } }

    /// The kept parts of interrupted items.
    func kept() throws -> [String] { try inStaging().filter(Self.isKept) }

    private static func isKept(_ name: String) -> Bool { name.hasPrefix("p-") || name.hasPrefix("o-") }

    private func inStaging() throws -> [String] {
        let inbox = URL(fileURLWithPath: inbox)
        let staging = inbox.deletingLastPathComponent().path + "/.waft-staging/" + inbox.lastPathComponent
        return try FileManager.default.contentsOfDirectory(atPath: staging).filter { !$0.contains("lock") }
    }
}

/// The events of a running program, and its end.
actor EventLog {
    private(set) var events: [Event] = []
    private(set) var errors = ""
    /// The lines of the events, a few of each name.
    private(set) var lines: [String] = []
    /// The number of events of each name: there may be 20,000 of them, and the question comes with each.
    private var counts: [String: Int] = [:]
    private var isOver = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    struct Ended: Error, CustomStringConvertible {
        var description: String
    }

    func add(_ line: String) {
        if let event = Event(line: line) {
            events.append(event)
            counts[event.event, default: 0] += 1
            if events.count < 200 || count(event.event) < 20 { lines.append(line) }
        }
        wake()
    }

    func addError(_ text: String) {
        errors += text
        wake()
    }

    func end() {
        isOver = true
        wake()
    }

    /// The first event, from the beginning, that `matches`; waits for it.
    /// - Throws: `Ended` when the program ends without it.
    func first(_ name: String, where matches: @Sendable (Event) -> Bool = { _ in true }) async throws -> Event {
        while true {
            if let event = events.first(where: { $0.event == name && matches($0) }) { return event }
            if isOver { throw Ended(description: "the program ended without the event \(name): \(errors)") }
            await change()
        }
    }

    /// The second event of this name; see `first`.
    func second(_ name: String) async throws -> Event {
        while true {
            let found = events.filter { $0.event == name }
            if found.count > 1 { return found[1] }
            if isOver { throw Ended(description: "the program ended without a second event \(name): \(errors)") }
            await change()
        }
    }

    /// Waits until there are `count` events of this name.
    func wait(for count: Int, of name: String) async throws {
        while self.count(name) < count {
            if isOver { throw Ended(description: "the program ended without \(count) events \(name): \(errors)") }
            await change()
        }
    }

    /// Waits for the end of the program.
    func ended() async {
        while !isOver { await change() }
    }

    /// Waits until `text` is on standard error.
    func error(containing text: String) async throws {
        while !errors.contains(text) {
            if isOver { throw Ended(description: "the program ended without saying \(text): \(errors)") }
            await change()
        }
    }

    func count(_ name: String) -> Int { counts[name] ?? 0 }

    private func change() async {
        await withCheckedContinuation { waiters.append($0) }
    }

    private func wake() {
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

extension Host {
    /// Runs a receiver, waits until it is ready, calls `body`, and ends the receiver with SIGTERM if it still runs.
    /// - Returns: the result of `body`, and the receiver's exit code.
    @discardableResult
    func withReceiver<Result: Sendable>(
        _ program: String = Programs.waft,
        _ arguments: [String] = ["receive", "--accept", "everyone"],
        port: Int? = 0,
        _ body: @Sendable @escaping (RunningReceiver) async throws -> Result
    ) async throws -> (result: Result, exit: Int) {
        let log = EventLog()
        var words = arguments
        if let port, !words.contains("--port") { words += ["--port", "\(port)"] }
        let configuration = configuration(program, words + ["--json"])
        let result = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .sequence
        ) { execution -> Result in
            let output = Task {
                for try await line in execution.standardOutput.strings() { await log.add(line) }
                await log.end()
            }
            let errors = Task {
                for try await line in execution.standardError.strings() { await log.addError(line + "\n") }
            }
            let ready = try await log.first("ready")
            let receiver = RunningReceiver(
                log: log,
                process: execution.processIdentifier,
                port: ready.port ?? 0,
                id: ready.id ?? "",
                inbox: ready.inbox ?? ""
            )
            let outcome = await Self.outcome { try await body(receiver) }
            receiver.signal(.terminate)
            _ = try? await (output.value, errors.value)
            return try outcome.get()
        }
        LineContracts.hold(await log.lines, of: [program] + words)
        return (result.closureResult, result.terminationStatus.code)
    }

    private static func outcome<Value>(_ body: () async throws -> Value) async -> Swift.Result<Value, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
