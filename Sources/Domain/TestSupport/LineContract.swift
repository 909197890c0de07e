import Foundation
import Synchronization

/// Checks lines of `--json` against their JSON Schema (`CommandLine.docc/events.schema.json`), by
/// `Scripts/check.d/events`: one process for all tests.
package final class LineContract: Sendable {
    package static let shared = LineContract()

    /// The root of the sources.
    package static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .path
    package static let schema = root + "/Sources/Faces/CommandLine/CommandLine.docc/events.schema.json"

    /// Lines in one request: the answers must fit into a pipe, because they are read only afterwards.
    private static let batch = 50
    /// Maximum number of checked lines of one event and one run of a program: it can print tens of thousands.
    private static let sameEvents = 50

    private final class Checker {
        let process = Process()
        let input = Pipe()
        let output = Pipe()
        var pending = Data()

        init() throws {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            process.arguments = ["-B", LineContract.root + "/Scripts/check.d/events"]
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
        }

        func answers(to lines: [String]) throws -> [String] {
            try input.fileHandleForWriting.write(contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8))
            var answers: [String] = []
            while answers.count < lines.count {
                if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                    answers.append(String(decoding: pending[..<end], as: UTF8.self))
                    pending = Data(pending[pending.index(after: end)...])
                    continue
                }
                let more = output.fileHandleForReading.availableData
                guard !more.isEmpty else { throw Unavailable() }
                pending += more
            }
            return answers
        }
    }

    private struct Unavailable: Error, CustomStringConvertible {
        let description = "Scripts/check.d/events has ended; is python3-jsonschema here? Scripts/setup tests"
    }

    private let checker = Mutex<Checker?>(nil)

    /// - Parameter lines: of one run of a program.
    /// - Returns: a line for each violation of the schema, with its reason.
    package func faults(in lines: some Sequence<some StringProtocol>) -> [String] {
        var counts: [Substring: Int] = [:]
        var looked: [String] = []
        for line in lines {
            let count = counts[Self.event(of: line), default: 0]
            counts[Self.event(of: line)] = count + 1
            if count < Self.sameEvents { looked.append(String(line)) }
        }
        var faults: [String] = []
        for start in stride(from: 0, to: looked.count, by: Self.batch) {
            faults += self.faults(of: Array(looked[start..<min(start + Self.batch, looked.count)]))
        }
        return faults
    }

    /// The name of a line's event; empty if there is none.
    package static func event(of line: some StringProtocol) -> Substring {
        let line = Substring(line)
        guard let start = line.range(of: "\"event\":\"")?.upperBound else { return "" }
        return line[start...].prefix { $0 != "\"" }
    }

    private func faults(of lines: [String]) -> [String] {
        checker.withLock { checker in
            do {
                let running = try checker ?? Checker()
                checker = running
                let answers = try running.answers(to: lines)
                return zip(lines, answers).filter { $0.1 != "ok" }.map { "\($0.1): \($0.0.prefix(1_000))" }
            } catch {
                return ["\(error)"]
            }
        }
    }
}
