import ArgumentParser
import Contacts
import Endpoints
import Foundation
import Lines
import Logging
import Receiving
import Settings
import Sharing
import TestSupport
import Testing

@testable import CommandLine
@testable import Operations

/// A home in which command lines run in this process, as the programs run them, with files to name.
final class CommandHome: Sendable {
    let folder = TemporaryFolder()
    /// The value of `WAFT_HOME`.
    let root: String
    private let name: String

    /// - Parameter place: of the home, in the folder of this value.
    init(_ name: String = "kitchen", place: String = "") {
        self.name = name
        root = folder.path + place
        _ = try? FileManager.default.createDirectory(atPath: files + "/trip", withIntermediateDirectories: true)
        for file in ["note.txt", "1", "trip/one.txt", "two\nlines.txt"] { folder.file("files/" + file, "buy bread\n") }
        mkfifo(files + "/pipe", 0o600)
    }

    var files: String { folder / "files" }

    /// The names in the Inbox, in order, without hidden ones.
    var stored: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: root + "/Documents/Inbox")) ?? [])
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    /// - Parameter line: words between blanks, or in single quotes; `$H` is the folder of the home, `$F` that of the files.
    func run(_ line: String, _ program: any AsyncParsableCommand.Type = WaftCommand.self) async -> CommandOutput {
        let (results, notes) = (Recorder<String>(), Recorder<String>())
        let words = filled(line).matches(of: /'([^']*)'|[^ ]+/).map { String($0.output.1 ?? $0.output.0) }
        let environment = CommandEnvironment(["WAFT_HOME": root, "WAFT_DISCOVERY": "off", "WAFT_NAME": name])
        let listener: @Sendable (String, Int32) -> Void = { text, descriptor in
            (descriptor == STDOUT_FILENO ? results : notes).record(String(text.dropLast()))
        }
        let exit = await CommandEnvironment.$current.withValue(environment) {
            await Console.$listener.withValue(listener) { await CommandLineRun.run(program) { words } }
        }
        if words.contains("--json") { holdContract(results.all) }
        return CommandOutput(
            exit: WaftExit(rawValue: exit), results: results.all.joined(separator: "\n"),
            notes: notes.all.joined(separator: "\n"))
    }

    func filled(_ text: String) -> String {
        text.replacing("$F", with: files).replacing("$H", with: root)
    }

    /// Runs each command line of each refusal, and the first one also with `--json`.
    func expect(_ refusals: [Refusal], at location: SourceLocation = #_sourceLocation) async {
        for refusal in refusals {
            for line in refusal.lines {
                let said = await run(line, refusal.program)
                let wanted = filled(refusal.said)
                #expect(said.exit == refusal.exit, "\(line)", sourceLocation: location)
                #expect(said.notes == wanted, "\(line)", sourceLocation: location)
                guard refusal.hasJSON, line == refusal.lines.first else { continue }
                let document = await run(line + " --json", refusal.program)
                let failures = document.failures.map { "waft: " + $0.replacing("\n", with: "\n  ") }
                #expect(document.exit == refusal.exit, "\(line) --json", sourceLocation: location)
                #expect(wanted.hasSuffix(failures.joined(separator: "\n")), "\(line) --json", sourceLocation: location)
                #expect(!failures.isEmpty, "\(line) --json: \(document)", sourceLocation: location)
            }
        }
    }

    private func waft(_ settings: Settings) throws -> Waft {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return Waft(try Home(environment: ["WAFT_HOME": root]), LiveSettings(settings), logger: logger)
    }

    /// Returns when an offer waits for an answer.
    func offer() async throws {
        let (offers, feed) = AsyncStream<Void>.makeStream()
        let receiver = try waft(Settings(hostName: name)).receiver
        let watch = Task {
            defer { feed.finish() }
            try await receiver.watch { event in if case .offer = event { feed.yield() } }
        }
        defer { watch.cancel() }
        try #require(await offers.first { true } != nil, "the receiver ended")
    }

    /// Runs command lines that fail, each with its exit code and with words among others.
    func expect(
        _ failures: [(line: String, exit: WaftExit, says: String)],
        _ program: any AsyncParsableCommand.Type = WaftCommand.self,
        at location: SourceLocation = #_sourceLocation
    ) async {
        for failure in failures {
            let said = await run(failure.line, program)
            #expect(said.exit == failure.exit, "\(failure.line): \(said)", sourceLocation: location)
            #expect(said.notes.contains(filled(failure.says)), "\(failure.line): \(said)", sourceLocation: location)
            #expect(said.results.isEmpty && said.notes.hasPrefix("waft: "), "\(failure.line)", sourceLocation: location)
        }
    }

    /// Runs command lines that succeed, each with words among its results. Those that only read are also run with `--json`,
    /// which has a line at least.
    func answer(
        _ answers: [(line: String, says: String)], isReading: Bool = false,
        at location: SourceLocation = #_sourceLocation
    ) async {
        for answer in answers {
            let said = await run(answer.line)
            #expect(said.exit == .done, "\(answer.line): \(said)", sourceLocation: location)
            #expect(said.results.contains(filled(answer.says)), "\(answer.line): \(said)", sourceLocation: location)
            guard isReading else { continue }
            let document = await run(answer.line + " --json")
            let isDocument = document.exit == .done && document.results.hasPrefix("{")
            #expect(isDocument, "\(answer.line) --json: \(document)", sourceLocation: location)
        }
    }

    /// Writes `config.yaml`.
    func configure(_ text: String) throws {
        try FileManager.default.createDirectory(atPath: root + "/config", withIntermediateDirectories: true)
        try text.write(toFile: root + "/config/config.yaml", atomically: false, encoding: .utf8)
    }

    /// Runs a receiver in this process, as `waftd` does; its people see every offer.
    /// - Parameter body: gets the receiver's address.
    func receiving(
        _ accept: AcceptRule = .everyone, _ body: @Sendable (_ address: String) async throws -> Void
    ) async throws {
        var settings = Settings(hostName: name)
        (settings.discovery, settings.notifications, settings.inhibitsSleep) = (false, .off, false)
        (settings.airdrop.isEnabled, settings.localsend.isEnabled) = (false, false)
        (settings.port, settings.accept) = (0, accept)
        let home = try Home(environment: ["WAFT_HOME": root])
        try settings.read(file: home.configurationFile, dialects: .known, registry: home.typeRegistry())
        let waft = try waft(settings)
        let (ports, feed) = AsyncStream<Int>.makeStream()
        let receiver = waft.makeReceiver(visibility: .everyone) { event in
            if case .ready(_, _, let port, _, _) = event { feed.yield(port) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { feed.finish() }
                try await receiver.receive()
            }
            let port = await ports.first { _ in true }
            try await body("127.0.0.1:\(try #require(port, "the receiver ended"))")
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}

/// The output of a command line.
struct CommandOutput {
    let exit: WaftExit?
    let results: String
    let notes: String

    /// The reason, the further reasons and the advice of each `failed` line, a line each.
    var failures: [String] {
        results.split(separator: "\n").compactMap { line in
            guard let fields = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                fields["event"] as? String == "failed"
            else { return nil }
            let texts =
                [fields["reason"] as? String] + (fields["others"] as? [String] ?? []) + [fields["hint"] as? String]
            return texts.compactMap(\.self).joined(separator: "\n")
        }
    }
}

/// Command lines that fail in the same way.
struct Refusal {
    let lines: [String]
    let exit: WaftExit
    /// Standard error, whole.
    let said: String
    var hasJSON = true
    var program: any AsyncParsableCommand.Type = WaftCommand.self

    init(_ lines: String..., exit: WaftExit, _ said: String) {
        (self.lines, self.exit, self.said) = (lines, exit, said)
    }

    /// Command lines that need a receiver, where none is running.
    init(withoutReceiver lines: String...) {
        (self.lines, exit) = (lines, .notRunning)
        said = """
            waft: no receiver is running here (nothing listens on $H/run/control)
              start one with: waftd, or: waft receive
            """
    }

    /// The same for verbs that print contents, and have no `--json`.
    var withoutJSON: Refusal {
        var refusal = self
        refusal.hasJSON = false
        return refusal
    }

    /// The same for the daemon.
    var ofDaemon: Refusal {
        var refusal = self
        refusal.program = WaftDaemonCommand.self
        return refusal
    }
}
