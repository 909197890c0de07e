import Foundation
import Synchronization

/// Holds lines of `--json` against their JSON Schema (`Commands.docc/events.schema.json`), by `Scripts/check.d/events`: one
/// process for all tests.
package final class LineContract: Sendable {
    package static let shared = LineContract()

    /// The root of the sources.
    package static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .path
    package static let schema = root + "/Sources/App/Commands/Commands.docc/events.schema.json"

    /// Lines that are asked about at a time: the answers must fit into a pipe, as nobody reads them meanwhile.
    private static let batch = 50
    /// Lines of one event that are looked at, of one run of a program: it can print tens of thousands.
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
    /// - Returns: a line for each that is not as the schema has it, with what is wrong.
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

    /// The name of a line's event; empty where there is none.
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
