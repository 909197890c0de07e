import CLinuxShims
import Foundation
import Glibc
import Lines
import NIOCore
import NIOPosix
import Operations
import Subprocess
import Synchronization
package import SystemCalls
import SystemPackage

/// The command line of this program, whose verbs the pages run.
package struct DeskProgram: Sendable {
    /// Bytes of standard error that are kept.
    private static let errorBytes = 4 << 10

    private let path: String
    /// Variables that the verbs get besides those of this process.
    private let environment: [String: String]

    package init(path: String, environment: [String: String] = [:]) {
        (self.path, self.environment) = (path, environment)
    }

    /// The end of a verb.
    struct End: Sendable {
        /// The exit code; 128 and the number of the signal that ended it.
        var exit: Int
        /// The beginning of standard error, or the reason of an operation's failure.
        var errors: String

        init(exit: Int, errors: String) { (self.exit, self.errors) = (exit, errors) }

        /// The end of an operation.
        init(_ body: () async throws(WaftError) -> WaftExit) async {
            do throws(WaftError) {
                self.init(exit: Int(try await body().rawValue), errors: "")
            } catch {
                self.init(exit: Int(error.code.rawValue), errors: error.reason)
            }
        }
    }

    /// The standard input of a verb.
    enum Input: Sendable {
        case text(String)
        /// Texts that come while it runs.
        case answers(AsyncStream<String>)
    }

    /// Runs a verb. If the task is cancelled, it is interrupted as by Ctrl-C.
    /// - Parameters:
    ///   - input: for its standard input.
    ///   - take: gets the bytes of its standard output as they come; if it throws, the verb is interrupted.
    func run(
        _ words: [String], input: Input? = nil, take: @escaping @Sendable ([UInt8]) async throws -> Void
    ) async -> End {
        var options = PlatformOptions()
        options.teardownSequence = [
            .send(signal: .interrupt, allowedDurationToNextStep: .seconds(3)),
            .send(signal: .terminate, allowedDurationToNextStep: .seconds(2)),
        ]
        let configuration = Configuration(
            executable: .path(FilePath(path)), arguments: Arguments(words),
            environment: .inherit.updating(
                Dictionary(uniqueKeysWithValues: environment.map { (Environment.Key(stringLiteral: $0), $1) })),
            platformOptions: options)
        do {
            let output = try ProgramPipe()
            let result = try await Subprocess.run(
                configuration, input: .inputWriter,
                output: .fileDescriptor(FileDescriptor(rawValue: output.writing), closeAfterSpawningProcess: true),
                error: .sequence
            ) {
                execution in
                try await withThrowingTaskGroup(of: String.self) { group in
                    group.addTask {
                        var kept: [UInt8] = []
                        for try await piece in execution.standardError where kept.count < Self.errorBytes {
                            kept += piece.withUnsafeBytes(Array.init).prefix(Self.errorBytes - kept.count)
                        }
                        return String(decoding: kept, as: UTF8.self)
                    }
                    // Beside the reading: a verb that reads no input must not wait for its output to be read, too.
                    let writing = Task {
                        switch input {
                        case .text(let text): _ = try? await execution.standardInputWriter.write(text)
                        case .answers(let answers):
                            for await text in answers { _ = try? await execution.standardInputWriter.write(text) }
                        case nil: break
                        }
                        try? await execution.standardInputWriter.finish()
                    }
                    // No answer comes any more when the verb has ended.
                    defer { writing.cancel() }
                    try await output.read(take)
                    return try await group.next() ?? ""
                }
            }
            let exit =
                switch result.terminationStatus {
                case .exited(let code): Int(code)
                case .signaled(let signal): 128 + Int(signal)
                }
            return End(exit: exit, errors: result.closureResult)
        } catch {
            return End(exit: 1, errors: "\(error)")
        }
    }

    /// Runs a verb to its end.
    /// - Returns: its end, and the first `limit` bytes of its output.
    func output(_ words: [String], limit: Int) async -> (end: End, output: Data) {
        let output = Collected(limit: limit)
        let end = await run(words) { await output.add($0) }
        return (end, await output.bytes)
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
