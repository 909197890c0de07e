import Glibc
import Synchronization

/// A resident handler's process, with what it is told and what it says.
final class ResidentProcess: Sendable {
    /// What it said; nil for a line that is too long.
    typealias Line = [UInt8]?

    let started: Started
    /// Ends when the process has ended and all that it said has been heard.
    let lines: AsyncStream<Line>
    private let input: FedPipe
    private let output: DrainedPipe
    /// Whether it is being ended from our side.
    private let isDismissed = Atomic<Bool>(false)

    /// - Throws: as `HandlerRunner.start`, `Errno`.
    static func start(
        _ program: HandlerProgram, _ runner: HandlerRunner
    ) async throws -> ResidentProcess {
        // A few lines, and not all that a program can say: each that nobody asked for is a fault.
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

    /// Tells it something: one line with its end.
    func tell(_ line: [UInt8]) {
        input.write(line)
    }

    /// Whether it has read, or at least been sent, all that it was told.
    var hasBeenTold: Bool { input.isDrained }

    var wasDismissed: Bool { isDismissed.load(ordering: .acquiring) }

    /// Ends it with all that it has started: at once, which is by being asked to leave.
    func end(grace: Duration) async {
        isDismissed.store(true, ordering: .releasing)
        input.close()
        await started.process.end(grace: grace)
    }

    /// Lets it come to the end of its input and leave by itself, and ends it where it does not.
    func retire(grace: Duration) async {
        isDismissed.store(true, ordering: .releasing)
        input.close()
        await Task { [started] in
            _ = await started.process.ending(within: grace)
            await started.process.end(grace: grace)
        }.value
    }

    /// To be called once, when it has ended.
    func finish(_ leftovers: LeftoverPipes) async {
        input.close()
        if !output.isAtEnd { leftovers.keep(output) }
        await started.finish(leftovers)
    }
}
