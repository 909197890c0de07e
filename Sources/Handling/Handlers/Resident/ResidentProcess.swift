import Glibc
import Programs
import Synchronization

/// A resident handler's process, with its input and output.
final class ResidentProcess: Sendable {
    /// A line of output; nil for a line that is too long.
    typealias Line = [UInt8]?

    let started: Started
    /// Ends when the process has ended and all its output has been read.
    let lines: AsyncStream<Line>
    private let input: FedPipe
    private let output: DrainedPipe

    /// - Throws: as `HandlerRunner.start`, `Errno`.
    static func start(
        _ program: HandlerProgram, _ runner: HandlerRunner
    ) async throws -> ResidentProcess {
        // The buffer holds a few lines only: each line without a question is a fault.
        let (lines, heard) = AsyncStream<Line>.makeStream(bufferingPolicy: .bufferingOldest(8))
        let splitter = Mutex(LineSplitter())
        let input = try FedPipe()
        let (output, writing) = try DrainedPipe.make { bytes in
            splitter.withLock { splitter in
                splitter.take(bytes, limit: ResidentAnswer.longestLine) { heard.yield($0) }
            }
        }
        defer { close(writing) }
        do {
            let started = try await runner.start(
                program, arguments: [HookCall.Verb.openURL.rawValue, "-"], environment: HookCall.withoutItems,
                input: input.input, output: writing)
            started.process.whenEnded { _ in
                Task {
                    await output.catchUp()
                    heard.finish()
                }
            }
            return ResidentProcess(started, lines: lines, input: input, output: output)
        } catch {
            output.close()
            throw error
        }
    }

    private init(_ started: Started, lines: AsyncStream<Line>, input: FedPipe, output: DrainedPipe) {
        self.started = started
        self.lines = lines
        self.input = input
        self.output = output
    }

    /// Sends it one line with its end.
    func tell(_ line: [UInt8]) {
        input.write(line)
    }

    /// Whether the pipe has taken all lines for it.
    var hasBeenTold: Bool { input.isDrained }

    /// Ends it with all processes that it has started, at once: it is asked to leave, and killed after `grace`.
    func end(grace: Duration) async {
        input.close()
        await started.process.end(grace: grace)
    }

    /// Closes its input so that it leaves by itself, and ends it if it does not.
    func retire(grace: Duration) async {
        input.close()
        await Task { [started] in
            _ = await started.process.ending(within: grace)
            await started.process.end(grace: grace)
        }.value
    }

    /// Call this once, when it has ended.
    func finish(_ leftovers: LeftoverPipes) async {
        input.close()
        if !output.isAtEnd { leftovers.keep(output) }
        await started.finish(leftovers)
    }
}
