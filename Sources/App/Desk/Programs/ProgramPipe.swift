import CLinuxShims
import Glibc
import NIOCore
import NIOPosix
import Synchronization
package import SystemCalls

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
