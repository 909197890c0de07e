import CLinuxShims
package import Foundation
import Glibc
import NIOCore
import NIOPosix
import Programs

/// This program, for work that has a process of its own: contents of others are parsed, and passphrases are stretched there.
package struct OwnProgram: Sendable {
    /// Bytes of an input: as many as a pipe takes at once.
    package static let inputBytes = 4_096

    private let path: String

    package init(path: String) { self.path = path }

    /// Runs a command. If the task is cancelled, it is interrupted as by Ctrl-C.
    /// - Parameters:
    ///   - input: for its standard input, `inputBytes` at most.
    ///   - take: gets the bytes of its standard output as they come; while it waits, nothing is read. If it throws, the
    ///     command is interrupted.
    /// - Returns: the exit code; 128 and the number of the signal that ended it, and 1 if it could not be run.
    package func run(
        _ words: [String], input: String = "", take: @escaping @Sendable ([UInt8]) async throws -> Void
    ) async -> Int {
        guard input.utf8.count <= Self.inputBytes, let given = Self.pipe() else { return 1 }
        guard let output = Self.pipe() else {
            close(given.reading)
            close(given.writing)
            return 1
        }
        _ = Array(input.utf8).withUnsafeBytes { Glibc.write(given.writing, $0.baseAddress, $0.count) }
        close(given.writing)
        let running = try? await Program(path, words).start(input: given.reading, output: output.writing)
        close(given.reading)
        close(output.writing)
        guard let running else {
            close(output.reading)
            return 1
        }
        do {
            try await withTaskCancellationHandler {
                try await Self.read(output.reading, take)
            } onCancel: {
                Task { await Self.end(running) }
            }
        } catch {
            await Self.end(running)
        }
        return switch await running.ending() {
        case .code(let code): code
        case .signal(let signal): 128 + signal
        case .unknown: 1
        }
    }

    private static func end(_ running: RunningProgram) async {
        await running.end([EndStep(SIGINT, .seconds(3)), EndStep(SIGTERM, .seconds(2)), EndStep(SIGKILL, .seconds(2))])
    }

    private static func pipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [-1, -1]
        return CLinuxShims_pipe(&ends) == 0 ? (ends[0], ends[1]) : nil
    }

    /// Reads a pipe to its end, and closes it.
    private static func read(_ file: Int32, _ take: ([UInt8]) async throws -> Void) async throws {
        let channel = try await NIOPipeBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .takingOwnershipOfDescriptor(input: file) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, Never>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { output in
            for try await piece in output { try await take(Array(piece.readableBytesView)) }
        }
    }

    /// Runs a command to its end.
    /// - Returns: the first `limit` bytes of its output; nil if it failed.
    package func output(_ words: [String], limit: Int) async -> Data? {
        let output = Collected(limit: limit)
        let end = await run(words) { await output.add($0) }
        return end == 0 ? await output.bytes : nil
    }
}

private actor Collected {
    private(set) var bytes = Data()
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func add(_ more: [UInt8]) { bytes.append(contentsOf: more.prefix(limit - bytes.count)) }
}
