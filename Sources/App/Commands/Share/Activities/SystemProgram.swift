import Desk
import Foundation
import Lines
import Sharing
import Subprocess
import Synchronization
import SystemPackage

/// A program of the system that does a part of Waft's work: `lp`, `wl-copy`.
struct SystemProgram {
    let name: String
    let path: String

    /// How long a program may take before it counts as taken over by the desktop.
    private static let patience: Duration = .seconds(15)
    /// How long programs that a failed one has left behind may hold its pipe.
    private static let farewell: Duration = .seconds(1)
    /// Bytes of its output that are kept.
    static let outputBytes = 64 << 10

    /// - Returns: nil if no folder of `PATH` has it.
    init?(_ name: String, _ environment: [String: String] = ProcessInfo.processInfo.environment) {
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let found = folders.map { "\($0)/\(name)" }.first { path in
            PathText.isAbsolute(path) && FileManager.default.isExecutableFile(atPath: path)
        }
        guard let found else { return nil }
        (self.name, path) = (name, found)
    }

    /// Runs it to its end.
    /// - Returns: the first line of its output; not escaped.
    /// - Throws: `CommandError` `unexpected` with the last line of its standard error.
    @discardableResult
    func run(_ words: [String], input: [UInt8] = []) async throws(CommandError) -> String {
        let status: TerminationStatus
        let (output, complaint): (String, String)
        do {
            let result = try await Subprocess.run(
                .path(FilePath(path)), arguments: Arguments(words), input: .array(input),
                output: .string(limit: Self.outputBytes), error: .string(limit: Self.outputBytes))
            status = result.terminationStatus
            (output, complaint) = (result.standardOutput, result.standardError)
        } catch {
            throw CommandError(.unexpected, "\(name) could not be run: \(TerminalText.escaped("\(error)"))")
        }
        guard status.isSuccess else { throw failure(complaint) }
        return output.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }

    /// Starts it in a group of its own, and waits a while for its end. It may go on after that.
    /// - Throws: as `run`.
    func handOver(_ words: [String]) async throws(CommandError) {
        var options = PlatformOptions()
        // A Ctrl-C for this process must not reach the programs of the desktop.
        options.processGroupID = 0
        let configuration = Configuration(
            executable: .path(FilePath(path)), arguments: Arguments(words), platformOptions: options)
        let (ends, inlet) = AsyncStream<CommandError?>.makeStream()
        Task {
            do {
                let (pipe, complaint) = (try ProgramPipe(), LastWords())
                // A browser says much while it runs, and so do programs that it leaves behind.
                let reading = Task { try? await pipe.read { complaint.add($0) } }
                let result = try await Subprocess.run(
                    configuration, input: .none, output: .discarded,
                    error: .fileDescriptor(
                        FileDescriptor(rawValue: pipe.writing), closeAfterSpawningProcess: true))
                if result.terminationStatus.isSuccess {
                    inlet.yield(nil)
                    return
                }
                Task {
                    try? await Task.sleep(for: Self.farewell)
                    inlet.yield(failure(complaint.text))
                }
                await reading.value
                inlet.yield(failure(complaint.text))
            } catch {
                inlet.yield(
                    CommandError(.unexpected, "\(name) could not be run: \(TerminalText.escaped("\(error)"))"))
            }
        }
        Task {
            try? await Task.sleep(for: Self.patience)
            inlet.yield(nil)
        }
        for await end in ends {
            if let end { throw end }
            return
        }
    }

    /// The last bytes of a program's output.
    private final class LastWords: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        func add(_ more: [UInt8]) { bytes.withLock { $0 = ($0 + more).suffix(outputBytes) } }

        var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    }

    private func failure(_ complaint: String) -> CommandError {
        let last = complaint.split(whereSeparator: \.isNewline).last.map { ": " + TerminalText.escaped(String($0)) }
        return CommandError(.unexpected, "\(name) failed\(last ?? "")")
    }
}
