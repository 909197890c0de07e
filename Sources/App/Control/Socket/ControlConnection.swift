import Glibc
import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix

/// A client's connection to a receiver, for requests one after another: it is made with the first one, and made anew when
/// it was closed in between. A request beside another one has a connection of its own.
package final class ControlConnection: Sendable {
    private let socket: ControlSocket
    private let group: any EventLoopGroup
    /// The connection that no request uses.
    private let free = NIOLockedValueBox<ControlLine?>(nil)

    package init(_ socket: ControlSocket, on group: any EventLoopGroup) {
        (self.socket, self.group) = (socket, group)
    }

    /// - Parameter timeout: how long a receiver may take to answer.
    /// - Throws: `ControlError`; `notRunning` if no receiver listens.
    package func ask(
        _ request: ControlRequest, timeout: Duration = .seconds(10)
    ) async throws(ControlError) -> ControlReply {
        let secret = try? ControlSecret.line(for: socket)
        do {
            return try await askOnce(request, timeout: timeout)
        } catch {
            // Behind a passed socket an earlier receiver's secret may have been read before the new one was made.
            guard error.code == .denied, let new = try? ControlSecret.line(for: socket), new != secret else {
                throw error
            }
            return try await askOnce(request, timeout: timeout)
        }
    }

    private func askOnce(_ request: ControlRequest, timeout: Duration) async throws(ControlError) -> ControlReply {
        do {
            return try await withThrowingTaskGroup(of: ControlReply.self) { tasks in
                tasks.addTask { try await self.exchange(request) }
                tasks.addTask {
                    try await Task.sleep(for: timeout)
                    throw ControlError.broken("the receiver does not answer on its control socket")
                }
                defer { tasks.cancelAll() }
                guard let reply = try await tasks.next() else { throw CancellationError() }
                return reply
            }
        } catch let error as ControlError {
            throw error
        } catch {
            throw .broken("the receiver's answer could not be read: \(error)")
        }
    }

    private func exchange(_ request: ControlRequest) async throws -> ControlReply {
        let free = free.withLockedValue { free in
            defer { free = nil }
            return free
        }
        if let free {
            do {
                return try await exchange(ControlCoding.line(request), on: free)
            } catch is ControlLine.Unread {
                // The receiver that had this connection has ended, and has not seen the request: a new one is asked.
            } catch {
                // The receiver has ended meanwhile. The request is not repeated: it may have been done.
                if !Task.isCancelled { _ = try await connect() }
                throw error
            }
        }
        let line = try await connect()
        return try await exchange(await ControlClient.opening(with: request, at: socket), on: line)
    }

    /// - Throws: `ControlError` `notRunning`.
    private func connect() async throws(ControlError) -> ControlLine {
        guard let channel = await ControlClient.connect(socket, on: group) else { throw .notRunning(socket.path) }
        return ControlLine(channel)
    }

    /// Keeps the connection for the next request.
    private func exchange(_ bytes: ByteBuffer, on line: ControlLine) async throws -> ControlReply {
        let reply = try ControlClient.reply(in: await line.exchange(bytes))
        free.withLockedValue { $0 = line }
        return reply
    }
}

/// An open connection to a receiver, closed with its last reference.
private final class ControlLine: Sendable {
    private struct Question {
        var bytes: ByteBuffer
        var answer: CheckedContinuation<ByteBuffer?, any Error>
    }

    /// The receiver has closed the connection before it had read the request whole.
    struct Unread: Error {}

    private let channel: any Channel
    private let questions: AsyncStream<Question>.Continuation

    init(_ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>) {
        self.channel = channel.channel
        let (asked, questions) = AsyncStream<Question>.makeStream()
        self.questions = questions
        Task {
            try? await channel.executeThenClose { inbound, _ in
                var lines = inbound.makeAsyncIterator()
                for await question in asked {
                    do {
                        try await channel.channel.writeAndFlush(question.bytes)
                    } catch {
                        // Its last byte was not written: it was no whole line.
                        question.answer.resume(throwing: Unread())
                        continue
                    }
                    do {
                        question.answer.resume(returning: try await lines.next())
                    } catch let error as IOError where error.errnoCode == ECONNRESET {
                        // The kernel's word for a connection that was closed before its process had read all bytes.
                        question.answer.resume(throwing: Unread())
                    } catch {
                        question.answer.resume(throwing: error)
                    }
                }
            }
        }
    }

    deinit { close() }

    /// A cancelled request closes the connection: its answer would be taken for that of the next one.
    /// - Returns: the line that answers; nil if the receiver closes the connection after it has read the request.
    /// - Throws: `Unread`, or an error of the connection.
    func exchange(_ bytes: ByteBuffer) async throws -> ByteBuffer? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { answer in
                if case .terminated = questions.yield(Question(bytes: bytes, answer: answer)) {
                    answer.resume(returning: nil)
                }
            }
        } onCancel: {
            close()
        }
    }

    /// Requests that wait for their answers get none.
    func close() {
        questions.finish()
        channel.close(promise: nil)
    }
}
