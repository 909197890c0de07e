import Foundation
import Journal
import Sharing

/// A separate process for the tests of `Journal`: one is killed, one reads beside a writer, and one measures. Each line
/// on standard output reports a call that has returned.
///
///     journal-probe write FOLDER SEED     →  runs until it is killed
///     journal-probe read FOLDER           →  one line a look; until its standard input ends
///     journal-probe hold FOLDER           →  opens it; until its standard input ends
///     journal-probe bench FOLDER COUNT    →  calls a second, beside a loop that appends 4 KiB and syncs
@main
struct JournalProbe {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2 else { exit(64) }
        let last = arguments.count > 2 ? arguments[2] : ""
        do {
            switch arguments[0] {
            case "write":
                var writer = try ProbeWriter(folder: arguments[1], seed: UInt64(last) ?? 0)
                try writer.run()
            case "read": try ProbeReading(folder: arguments[1]).run()
            case "hold": try hold(arguments[1])
            case "bench": try ProbeBench(folder: arguments[1], count: Int(last) ?? 1_000).run()
            default: exit(64)
            }
        } catch {
            tell("fault \(error)")
            exit(1)
        }
    }

    private static func hold(_ folder: String) throws {
        let journal = try Journal(folder: folder, dialects: .probe)
        tell("open")
        while readLine() != nil {}
        withExtendedLifetime(journal) {}
    }
}

/// Writes one line by one system call: a written line survives the kill of the process.
func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    var written = 0
    while written < bytes.count {
        let count = bytes[written...].withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
        if count < 0 {
            if errno == EINTR { continue }
            exit(2)
        }
        written += count
    }
}
