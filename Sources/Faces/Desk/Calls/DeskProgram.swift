import CLinuxShims
import Foundation
import Glibc
import NIOCore
import NIOPosix
import Subprocess
import Synchronization
package import SystemCalls
import SystemPackage

/// This program, for work that has a process of its own: contents of others are parsed, and passphrases are stretched there.
package struct DeskProgram: Sendable {
    private let path: String

    package init(path: String) { self.path = path }

    /// Runs a command. If the task is cancelled, it is interrupted as by Ctrl-C.
    /// - Parameters:
    ///   - input: for its standard input.
    ///   - take: gets the bytes of its standard output as they come; if it throws, the command is interrupted.
    /// - Returns: the exit code; 128 and the number of the signal that ended it, and 1 if it did not start.
    func run(
        _ words: [String], input: String? = nil, take: @escaping @Sendable ([UInt8]) async throws -> Void
    ) async -> Int {
        var options = PlatformOptions()
        options.teardownSequence = [
            .send(signal: .interrupt, allowedDurationToNextStep: .seconds(3)),
            .send(signal: .terminate, allowedDurationToNextStep: .seconds(2)),
        ]
        let configuration = Configuration(
            executable: .path(FilePath(path)), arguments: Arguments(words), platformOptions: options)
        do {
            let output = try ProgramPipe()
            let result = try await Subprocess.run(
                configuration, input: .string(input ?? ""),
                output: .fileDescriptor(FileDescriptor(rawValue: output.writing), closeAfterSpawningProcess: true),
                error: .discarded
            ) { _ in try await output.read(take) }
            return switch result.terminationStatus {
            case .exited(let code): Int(code)
            case .signaled(let signal): 128 + Int(signal)
            }
        } catch {
            return 1
        }
    }

    /// Runs a command to its end.
    /// - Returns: the first `limit` bytes of its output; nil if it failed.
    func output(_ words: [String], limit: Int) async -> Data? {
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

/// The pipe of a program's output. It is read to its end, however long that takes: swift-subprocess drops the rest of a
/// `.sequence` when the program has ended and its reader is slow.
package final class ProgramPipe: Sendable {
    /// The program's end. Its spawning closes it here.
    package let writing: Int32
    private let reading: Int32
    /// Whether the reading end has another owner.
    private let isRead = Atomic(false)

    /// - Throws: `SystemError`.
    package init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard CLinuxShims_pipe(&ends) == 0 else { throw .last }
        (reading, writing) = (ends[0], ends[1])
    }

    /// A program that did not start was never read.
    deinit { if !isRead.load(ordering: .relaxed) { close(reading) } }

    /// Reads the output to its end; once.
    /// - Parameter take: gets the bytes as they come; while it waits, nothing is read.
    package func read(_ take: ([UInt8]) async throws -> Void) async throws {
        isRead.store(true, ordering: .relaxed)
        let channel = try await NIOPipeBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .takingOwnershipOfDescriptor(input: reading) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, Never>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { output in
            for try await piece in output { try await take(Array(piece.readableBytesView)) }
        }
    }
}
