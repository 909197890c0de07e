import Digests
import Foundation
import HandlerCatalog
import Handlers
import HookSandbox
import Logging
import Sharing
import TestSupport
import Testing
import UniformTypes

/// The folder of a handler with a script in it, an Inbox, and ways to receive messages from the script.
struct HookFolder {
    /// The handler's folder.
    let folder = TemporaryFolder()
    private let other = TemporaryFolder()

    init() {
        for name in ["Inbox", "scratch", "home"] { mkdir(other / name, 0o700) }
    }

    var inbox: String { other / "Inbox" }
    var scratch: String { other / "scratch" }
    /// A folder that a hook must not use.
    var home: String { other / "home" }

    /// The remaining temporary folders of the calls.
    var scratchNames: [String] { (try? FileManager.default.contentsOfDirectory(atPath: scratch)) ?? ["unreadable"] }

    /// Writes the script; `body` is in the language of `/bin/sh`.
    func script(_ body: String, name: String = "hook") -> String {
        folder.program(name, "#!/bin/sh\n" + body + "\n")
    }

    /// Writes a script in Python.
    func python(_ body: String, name: String = "hook.py") -> String {
        folder.program(name, "#!/usr/bin/env python3\n" + body + "\n")
    }

    func program(
        _ executable: String,
        identifier: String = "org.example.hook",
        mode: LaunchRules.Mode = .perItem,
        calls: Set<LaunchRules.Call> = [],
        timeLimit: Duration = .seconds(3_600),
        sandbox: SandboxPlan.Level = .none,
        version: String = ""
    ) -> HandlerProgram {
        HandlerProgram(
            identifier: identifier, version: version, name: "test", executable: executable, folder: folder.path,
            dataFolder: folder.path,
            mode: mode, calls: calls, timeLimit: timeLimit, sandbox: sandbox)
    }

    func runner(
        grace: Duration = .milliseconds(500), forbidden: [String] = [], logger: Logger = quiet
    ) -> HandlerRunner {
        HandlerRunner(
            inbox: inbox, scratchFolder: scratch, forbiddenPlaces: forbidden,
            firstLaunches: FirstLaunches(path: other / "state/first-launches.json"), grace: grace, launcher: probe,
            logger: logger)
    }

    /// Runs a script of `/bin/sh` for one arrival.
    func run(
        _ body: String,
        _ arrival: Arrival = .sample(),
        attempt: Int = 1,
        timeLimit: Duration = .seconds(3_600),
        sandbox: SandboxPlan.Level = .none
    ) async throws -> AttemptOutcome {
        try await runner().run(
            program(script(body), timeLimit: timeLimit, sandbox: sandbox), .open(arrival, attempt: attempt))
    }

    /// The text that the script wrote into a file of its folder.
    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: folder / name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The parts of a file, each terminated by NUL.
    func parts(_ name: String) -> [String] {
        (text(name) ?? "").split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    func json(_ name: String) throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data((text(name) ?? "").utf8))
        return try #require(value as? [String: Any])
    }

    func makePipe(_ name: String) {
        #expect(mkfifo(folder / name, 0o600) == 0)
    }

    /// Reads a named pipe until no process holds its other end, and records each line. A nil marks the end.
    func listen(to name: String) -> Recorder<String?> {
        let lines = Recorder<String?>()
        let path = folder / name
        // Uses its own thread: opening and reading block.
        Thread.detachNewThread {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while read(descriptor, &byte, 1) == 1 {
                if byte == UInt8(ascii: "\n") {
                    lines.record(String(decoding: line, as: UTF8.self))
                    line = []
                } else {
                    line.append(byte)
                }
            }
            close(descriptor)
            lines.record(nil)
        }
        return lines
    }

    /// Waits until no process holds the named pipe: until every process that has inherited it has ended.
    func end(of name: String, _ lines: Recorder<String?>) async throws {
        // If the script ended before it opened the pipe, the listener would wait for a writer for ever.
        let descriptor = open(folder / name, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        try await lines.first { $0 == nil }
    }

    /// Releases a script that waits to read from the named pipe.
    func release(_ name: String) {
        let path = folder / name
        Thread.detachNewThread { close(open(path, O_WRONLY | O_CLOEXEC)) }
    }
}

/// The launcher of the tests, which is in the same folder as the tests.
let probe: String = {
    guard let path = realpath("/proc/self/exe", nil) else { return "/sandbox-probe" }
    defer { free(path) }
    return URL(fileURLWithPath: String(cString: path)).deletingLastPathComponent().path + "/sandbox-probe"
}()

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Keeps the logged messages.
struct RecordingLog: LogHandler {
    let messages: Recorder<String>
    var logLevel: Logger.Level = .debug
    var metadata: Logger.Metadata = [:]

    static func make() -> (logger: Logger, messages: Recorder<String>) {
        let messages = Recorder<String>()
        return (Logger(label: "test") { _ in RecordingLog(messages: messages) }, messages)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let line = event.metadata?["line"].map { ": \($0)" } ?? ""
        messages.record("\(event.level) \(event.message)\(line)")
    }
}

extension Arrival {
    static func sample(
        _ name: String = "report.pdf",
        kind: ItemKind = .file,
        annotation: [String: String] = [:],
        sender: String = "study",
        number: Int64 = 12,
        path: String? = nil,
        transfer: TransferID = TransferID()
    ) -> Arrival {
        Arrival(
            number: ArrivalNumber(number),
            facts: ArrivalFacts(
                transfer: transfer,
                itemNumber: 2,
                itemsInOffer: 5,
                item: OfferedItem(kind: kind, name: safe("offered"), type: uniform("com.adobe.pdf"), size: 5),
                size: 5,
                digest: .of(.xxh3_128, Array("hello".utf8)),
                peer: .sample(7),
                senderName: sender,
                annotation: annotation
            ),
            stored: StoredItem(name: safe(name), path: path ?? "/in/the/Inbox/" + name)
        )
    }
}
