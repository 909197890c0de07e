import CLinuxShims
import Glibc
import Lines
import Subprocess
import SystemCalls
import SystemPackage

extension SystemProgram {
    /// The end of a program that asks the user.
    struct End: Sendable {
        /// Nil if a signal ended it.
        var code: Int32?
        var output: String
    }

    /// Runs it to its end; any exit code will do. If the task is cancelled, it is ended.
    /// - Parameter lines: for its standard input, which is closed at the end of the stream.
    /// - Throws: `CommandError` `unexpected` if it cannot be started.
    func end(
        _ words: [String], lines: some AsyncSequence<String, Never> & Sendable
    ) async throws(CommandError) -> End {
        var ends: [Int32] = [-1, -1]
        guard CLinuxShims_pipe(&ends) == 0 else { throw CommandError(.unexpected, "\(SystemError.last)") }
        let (reading, writing) = (ends[0], ends[1])
        // A program that has ended is no reason to wait for more.
        let feeder = Task {
            defer { close(writing) }
            for await line in lines {
                let bytes = Array(line.utf8)
                guard write(writing, bytes, bytes.count) == bytes.count else { return }
            }
        }
        defer { feeder.cancel() }
        return try await end(words, input: reading)
    }

    func end(_ words: [String]) async throws(CommandError) -> End { try await end(words, input: -1) }

    /// - Parameter input: a descriptor, which is closed; negative for none.
    private func end(_ words: [String], input: Int32) async throws(CommandError) -> End {
        var options = PlatformOptions()
        options.teardownSequence = [.send(signal: .terminate, allowedDurationToNextStep: .seconds(2))]
        let configuration = Configuration(
            executable: .path(FilePath(path)), arguments: Arguments(words), platformOptions: options)
        do {
            if input < 0 {
                let result = try await Subprocess.run(
                    configuration, input: .none, output: .string(limit: Self.outputBytes), error: .discarded)
                return End(result.terminationStatus, result.standardOutput)
            }
            let result = try await Subprocess.run(
                configuration,
                input: .fileDescriptor(SystemPackage.FileDescriptor(rawValue: input), closeAfterSpawningProcess: true),
                output: .string(limit: Self.outputBytes), error: .discarded)
            return End(result.terminationStatus, result.standardOutput)
        } catch {
            throw CommandError(.unexpected, "\(name) could not be run: \(TerminalText.escaped("\(error)"))")
        }
    }
}

extension SystemProgram.End {
    init(_ status: TerminationStatus, _ output: String) {
        if case .exited(let code) = status { self.code = code }
        self.output = output
    }
}
