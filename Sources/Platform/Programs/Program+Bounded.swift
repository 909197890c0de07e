import CLinuxShims
import Glibc
import SystemPackage

extension Program {
    /// The stream of a program that is read; the other ones are closed to it.
    package enum ReadStream: Sendable {
        case nothing
        case output
        case errors
    }

    /// How a bounded run ended, with the bytes that were read; beyond the limit, with the first ones.
    package struct BoundedOutcome: Sendable {
        package enum End: Sendable, Hashable {
            case exited(ProgramExit)
            case outOfTime
            /// It wrote more than the limit.
            case tooMuch
            /// The task was cancelled.
            case cancelled
        }

        package var end: End
        package var bytes: [UInt8]
    }

    /// How often the stream and the end of the program are looked at.
    private static let step: Duration = .milliseconds(20)

    /// Runs it, and always returns in time: also if it hangs, writes without end, belongs to root by now, or leaves
    /// programs behind that hold its streams.
    ///
    /// - Parameters:
    ///   - limit: bytes of the stream.
    ///   - goesOn: whether a program that is out of time goes on; otherwise it is killed with its whole group.
    /// - Throws: if it could not be started.
    package func run(
        reading stream: ReadStream, limit: Int, within time: Duration, goesOn: Bool = false
    ) async throws(ProgramError) -> BoundedOutcome {
        var program = self
        program.hasOwnGroup = true
        var ends: [Int32] = [-1, -1]
        guard CLinuxShims_pipe(&ends) == 0 else { throw ProgramError(path, Errno(rawValue: errno)) }
        let reading = ends[0]
        var isLeft = false
        defer { if !isLeft { close(reading) } }
        let writing = ends[1]
        defer { close(writing) }
        let running = try await program.start(
            output: stream == .output ? writing : nil, error: stream == .errors ? writing : nil)
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
        let deadline = ContinuousClock.now + time
        var bytes: [UInt8] = []
        while true {
            // Before the read: what it wrote is in the pipe by then.
            let exit = running.exit
            guard Self.drain(reading, into: &bytes, limit: limit) else {
                running.killGroup()
                return BoundedOutcome(end: .tooMuch, bytes: bytes)
            }
            if let exit { return BoundedOutcome(end: .exited(exit), bytes: bytes) }
            let isLate = ContinuousClock.now >= deadline
            if !isLate { try? await Task.sleep(for: Self.step) }
            if isLate || Task.isCancelled {
                if goesOn {
                    // It writes on: without a reader it would end.
                    isLeft = true
                    running.whenEnded { _ in close(reading) }
                } else {
                    running.killGroup()
                }
                return BoundedOutcome(end: isLate ? .outOfTime : .cancelled, bytes: bytes)
            }
        }
    }

    /// Reads what is there.
    /// - Returns: false beyond the limit.
    private static func drain(_ file: Int32, into bytes: inout [UInt8], limit: Int) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count > 0 else { return true }
            let room = limit - bytes.count
            bytes += buffer[..<min(count, room)]
            guard count <= room else { return false }
        }
    }
}
