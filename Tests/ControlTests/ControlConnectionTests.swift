import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Sharing
import TestSupport
import Testing

@testable import Control

private func expect(
    _ reply: ControlReply, to request: ControlRequest, over connection: ControlConnection,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let answer = try await connection.ask(request)
    #expect(answer == reply, sourceLocation: sourceLocation)
}

@Suite("A client's connection to a receiver")
struct ControlConnectionTests {
    @Test("requests that follow each other share one connection")
    func one() async throws {
        try await withServer { socket, _ in
            let connection = ControlConnection(socket, on: group)
            try await expect(.status(status), to: .status, over: connection)
            // Only a new connection would need it.
            ControlSecret.remove(for: socket)
            for _ in 0..<5 { try await expect(.status(status), to: .offers, over: connection) }
        }
    }

    @Test("requests at the same time get the answers to themselves")
    func many() async throws {
        try await withServer { request in
            guard case .items(let offer, _) = request else { return .cancelled }
            return .unknown("\(offer)")
        } _: { socket, _ in
            let connection = ControlConnection(socket, on: group)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<20 {
                    tasks.addTask {
                        try await expect(.unknown("\(number)"), to: .items(offer: number, from: 0), over: connection)
                    }
                }
                try await tasks.waitForAll()
            }
        }
    }

    @Test("a request that nobody waits for any more leaves no answer for the next one")
    func givenUp() async throws {
        let (entered, enter) = AsyncStream<Void>.makeStream()
        try await withServer { request in
            guard request == .offers else { return .status(status) }
            enter.yield()
            try? await Task.sleep(for: .seconds(100_000))
            return .offers([])
        } _: { socket, _ in
            let connection = ControlConnection(socket, on: group)
            try await expect(.status(status), to: .status, over: connection)
            let waiting = Task { try await connection.ask(.offers) }
            for await _ in entered { break }
            waiting.cancel()
            await #expect(throws: ControlError.self) { try await waiting.value }
            try await expect(.status(status), to: .status, over: connection)
        }
    }

    @Test("a connection that the receiver has closed is made anew")
    func closed() async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        let connection = ControlConnection(socket, on: group)
        for _ in 0..<2 {
            let server = try await ControlServer.bind(socket, on: group, logger: logger)
            await withTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await server.run(events: EventFeed()) { _ in .done } }
                defer { tasks.cancelAll() }
                #expect((try? await connection.ask(.status)) == .done)
            }
        }
        await #expect(throws: ControlError.self) { try await connection.ask(.status) }
    }

    @Test("a request that an ended receiver has not read goes to the next one, also before its end was noticed")
    func notNoticed() async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        // Its loop has always another task from the first answer to the second, and looks at no connection.
        let own = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let connection = ControlConnection(socket, on: own)
        let isBusy = NIOLockedValueBox(false)
        @Sendable func spin() { if isBusy.withLockedValue({ $0 }) { own.next().execute { spin() } } }
        for round in 1...2 {
            let server = try await ControlServer.bind(socket, on: group, logger: logger)
            await withTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    await server.run(events: EventFeed()) { _ in
                        isBusy.withLockedValue { $0 = false }
                        return .done
                    }
                }
                defer { tasks.cancelAll() }
                #expect((try? await connection.ask(.status)) == .done)
                isBusy.withLockedValue { $0 = round == 1 }
                spin()
            }
        }
        try await own.shutdownGracefully()
    }
}
