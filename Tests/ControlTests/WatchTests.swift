import Foundation
import Lines
import NIOCore
import NIOPosix
import Sharing
import TestSupport
import Testing

@testable import Control

/// An event with contents.
private func event(_ number: Int, bytes: Int = 0) -> ControlEvent {
    var end = ArrivedLine(TransferID(), from: .sample(1), nil)
    end.transfer = "\(number)"
    end.from = PersonFields(id: String(repeating: "x", count: bytes))
    return .ended(end)
}

private let ready = ControlEvent.ready(
    ReadyLine(id: "k7qf", name: "kitchen", port: 9_238, inbox: "/in", visibility: "everyone"))

private func offer(_ number: Int) -> ControlEvent {
    let waiting = WaitingOffer.sample(number)
    return .offer(
        OfferLine(
            waiting,
            Introduction(
                strangerNamed: "anna", key: "k7qf", unprovenBy: nil, claims: "Anna", warning: "no, \"not\"\n\u{1B}")))
}

private func settled(_ number: Int) -> ControlEvent {
    .answered(
        AnsweredLine(
            .sample(), from: PersonFields(id: PeerID.sample(1).text, name: "anna"),
            [ItemVerdict(.declined, reason: "no")], number: number))
}

extension WaitingOffer {
    fileprivate static func sample(_ number: Int) -> WaitingOffer {
        let transfer = TransferID(String(repeating: "0", count: 32)) ?? TransferID()
        return WaitingOffer(
            number: number, offer: .sample(items: 2, transfer: transfer), peer: .sample(1), freeRoom: 7,
            expires: WallTime(milliseconds: 9))
    }
}

/// Watches until the task is cancelled or the receiver has gone.
private func watch(_ socket: ControlSocket) -> (seen: Recorder<ControlEvent>, task: Task<Void, any Error>) {
    let seen = Recorder<ControlEvent>()
    let task = Task { try await ControlClient.watch(at: socket, on: group) { seen.record($0) } }
    return (seen, task)
}

private let watchLine = "{\"v\":2,\"message\":{\"watch\":{}}}\n"

@Suite("Watching a receiver", .timeLimit(.minutes(1)))
struct WatchTests {
    @Test("all watchers get the same events in the same order")
    func everyEvent() async throws {
        let events = EventFeed()
        let sent = [
            ready, offer(1), settled(1), event(1),
            .ended(
                ArrivedLine(TransferID(), from: .sample(1), TransferError(.interrupted, "broken \u{1B}[2J"))),
            .arrival(ArrivalLine.sample.answered(HandlerAnswer(.failed, exitCode: 3))), .arrival(.sample),
        ]
        try await withServer(events: events) { socket, _ in
            let watching = (0..<5).map { _ in watch(socket) }
            try await until { events.watchers == 5 }
            for event in sent { events.send(event) }
            for (seen, task) in watching {
                try await seen.element(sent.count)
                #expect(seen.all == sent)
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            try await until { events.watchers == 0 }
        }
    }

    @Test("a late watcher begins with the current state: the receiver is ready, and the offers that wait")
    func newcomers() async throws {
        let events = EventFeed()
        for event in [ready, offer(1), event(1), offer(2), offer(10), settled(1)] { events.send(event) }
        try await withServer(events: events) { socket, _ in
            let first = watch(socket)
            try await first.seen.element(3)
            #expect(first.seen.all == [ready, offer(2), offer(10)])
            events.becameUnreachable()
            events.send(settled(10))
            let second = watch(socket)
            try await second.seen.element(1)
            #expect(second.seen.all == [offer(2)])
            first.task.cancel()
            second.task.cancel()
        }
    }

    @Test("a client that hangs is dropped when its backlog is full, and does not affect others")
    func hanging() async throws {
        let events = EventFeed(backlogBytes: 64 << 10)
        try await withServer(events: events) { socket, _ in
            let hanging = try (0..<3).map { _ in try BareSocket(socket) }
            for client in hanging { client.write(watchLine) }
            let healthy = watch(socket)
            try await until { events.watchers == 4 }
            // One at a time, so that the healthy client has always read the previous event.
            for number in 1...2_000 {
                events.send(event(number, bytes: 1_000))
                try await healthy.seen.element(number)
                if number.isMultiple(of: 100) { try await expect(.status(status), to: .status, at: socket) }
            }
            #expect(events.watchers == 1)
            try await until { hanging.allSatisfy(\.isClosed) }
            #expect(healthy.seen.all == (1...2_000).map { event($0, bytes: 1_000) })
            // The text that was written before is whole lines in order, up to a cut.
            let lines = hanging[0].rest().split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            #expect(lines.first == #"{"message":{"watching":{}},"v":2}"#)
            for (number, line) in lines.dropFirst().enumerated() {
                #expect(line.contains("\"transfer\":\"\(number + 1)\""))
            }
            healthy.task.cancel()
        }
    }

    @Test("a client that is slow, and stays within its backlog, misses nothing")
    func slow() async throws {
        let events = EventFeed(backlogBytes: 4 << 20)
        try await withServer(events: events) { socket, _ in
            let slow = try BareSocket(socket)
            slow.write(watchLine)
            try await until { events.watchers == 1 }
            for number in 1...2_000 { events.send(event(number, bytes: 1_000)) }
            #expect(events.watchers == 1)
            try await expect(.status(status), to: .status, at: socket)
            let text = await Task.detached { slow.lines(2_001) }.value
            #expect(text.count == 2_001)
            for (number, line) in text.dropFirst().enumerated() {
                #expect(line.contains("\"transfer\":\"\(number + 1)\""))
            }
            // The backlog shrinks as the client reads.
            try await until { events.backlog == 0 }
            events.send(event(2_001))
            #expect(events.watchers == 1)
        }
    }

    @Test(
        "a client that goes away is noticed, whether something is being written to it or not", arguments: [false, true])
    func gone(isWriting: Bool) async throws {
        let events = EventFeed()
        try await withServer(events: events) { socket, _ in
            do {
                let clients = try (0..<3).map { _ in try BareSocket(socket) }
                for client in clients { client.write(watchLine) }
                try await until { events.watchers == 3 }
                // More than the buffers between both sides hold, so the server is in the middle of writing.
                if isWriting { for number in 1...1_000 { events.send(event(number, bytes: 1_000)) } }
                withExtendedLifetime(clients) {}
            }
            try await until { events.watchers == 0 }
        }
    }

    @Test("no more than a number may watch; the others are refused with the reason, and others are served all the same")
    func tooMany() async throws {
        let events = EventFeed()
        try await withServer(events: events) { socket, _ in
            var clients: [BareSocket] = []
            for count in 1...16 {
                clients.append(try BareSocket(socket))
                clients[count - 1].write(watchLine)
                try await until { events.watchers == count }
            }
            let error = await #expect(throws: ControlError.self) {
                try await ControlClient.watch(at: socket, on: group) { _ in }
            }
            #expect(error?.code == .refused)
            #expect(error?.description.contains("too many") == true)
            // Idle connections of other kinds do not remove watchers.
            var idle: [BareSocket] = []
            for _ in 0..<64 { idle.append(try BareSocket(socket)) }
            try await expect(.status(status), to: .status, at: socket)
            #expect(events.watchers == 16)
            clients.removeLast()
            try await until { events.watchers == 15 }
            let late = watch(socket)
            try await until { events.watchers == 16 }
            late.task.cancel()
            withExtendedLifetime(idle) {}
        }
    }

    @Test(
        "a line that only resembles a request to watch is refused, and the connection continues",
        arguments: [
            #"{"v":2,"message":{"watch":[]}}"#, #"{"v":2,"message":{"watch":null}}"#, #"{"v":2,"message":"watch"}"#,
            #"{"v":2,"message":{"watch":{},"status":{}}}"#, #"{"v":"1","message":{"watch":{}}}"#,
            #"{"message":{"watch":{}}}"#, #"{"v":2,"message":{"WATCH":{}}}"#, #"{"v":1.5,"message":{"watch":{}}}"#,
        ])
    func malformed(line: String) async throws {
        let events = EventFeed()
        try await withServer(events: events) { socket, _ in
            try await bare(socket) { inbound, outbound in
                var inbound = inbound.makeAsyncIterator()
                try await outbound.write(ByteBuffer(string: line + "\n"))
                let reply = String(buffer: try #require(try await inbound.next()))
                #expect(reply.contains("does not know this request"), "\(reply)")
                #expect(events.watchers == 0)
                try await outbound.write(ByteBuffer(string: watchLine))
                #expect(String(buffer: try #require(try await inbound.next())).contains("watching"))
            }
        }
    }

    @Test("lines of a watching client are ignored, and an endless line ends it")
    func talkative() async throws {
        let events = EventFeed()
        let asked = Recorder<ControlRequest>()
        try await withServer(events: events) { request in
            asked.record(request)
            return .done
        } _: { socket, _ in
            try await bare(socket) { inbound, outbound in
                var inbound = inbound.makeAsyncIterator()
                try await outbound.write(ByteBuffer(string: watchLine + watchLine + "nonsense\n"))
                try await outbound.write(try ControlCoding.line(ControlRequest.status))
                _ = try await inbound.next()
                events.send(event(1))
                #expect(String(buffer: try #require(try await inbound.next())).contains("ended"))
                #expect(events.watchers == 1)
                let piece = ByteBuffer(string: String(repeating: "x", count: 60_000))
                while events.watchers > 0 { try? await outbound.write(piece) }
            }
        }
        #expect(asked.count == 0)
    }

    @Test("a server that stops ends all streams, also those that no client reads")
    func stop() async throws {
        let events = EventFeed()
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        let server = try await ControlServer.bind(socket, on: group, logger: logger)
        let running = Task { await server.run(events: events) { _ in .done } }
        let reading = watch(socket)
        let hanging = try BareSocket(socket)
        hanging.write(watchLine)
        try await until { events.watchers == 2 }
        for number in 1...1_000 { events.send(event(number, bytes: 1_000)) }
        try await reading.seen.element(1_000)
        running.cancel()
        await running.value
        #expect(events.watchers == 0)
        // The stream ends without an error.
        try await reading.task.value
        _ = await Task.detached { hanging.rest() }.value
    }

    @Test("if no process listens, there is nothing to watch")
    func notRunning() async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        let error = await #expect(throws: ControlError.self) {
            try await ControlClient.watch(at: socket, on: group) { _ in }
        }
        #expect(error?.code == .notRunning)
    }

    @Test("a receiver that does not begin is not waited for longer than the timeout")
    func silent() async throws {
        try await withFakeServer { _ in
            try await Task.sleep(for: .seconds(86_400))
        } _: { socket in
            let error = await #expect(throws: ControlError.self) {
                try await ControlClient.watch(at: socket, on: group, timeout: .milliseconds(20)) { _ in }
            }
            #expect(error?.code == .broken)
        }
    }

    @Test("events that are newer than the command are passed over")
    func newerEvents() async throws {
        let known = String(buffer: try ControlCoding.line(event(1)))
        let text = """
            {"v":2,"message":{"watching":{}}}
            {"v":2,"message":{"selfDestruct":{"in":3}}}
            {"v":2,"message":{"offer":{"_0":{"number":"seven"}}}}
            {"v":2}
            \(known)
            """
        try await withFakeServer { outbound in
            try await outbound.write(ByteBuffer(string: text))
        } _: { socket in
            let seen = Recorder<ControlEvent>()
            try await ControlClient.watch(at: socket, on: group) { seen.record($0) }
            #expect(seen.all == [event(1)])
        }
    }

    @Test(
        "a receiver that answers nonsense, or in another version, is broken; an older one says that it cannot",
        arguments: [
            ("", ControlError.Code.broken), ("nonsense\n", .broken),
            ("{\"v\":1,\"message\":{\"watching\":{}}}\n", .otherVersion),
            ("{\"v\":2,\"message\":{\"done\":{}}}\n", .broken),
            ("{\"v\":2,\"message\":{\"refused\":{\"_0\":\"what?\"}}}\n", .refused),
            ("{\"v\":2,\"message\":{\"watching\":{}}}\nnonsense\n", .broken),
            ("{\"v\":2,\"message\":{\"watching\":{}}}\n{\"v\":1}\n", .broken),
        ])
    func nonsense(text: String, code: ControlError.Code) async throws {
        try await withFakeServer { outbound in
            try await outbound.write(ByteBuffer(string: text))
        } _: { socket in
            let error = await #expect(throws: ControlError.self) {
                try await ControlClient.watch(at: socket, on: group) { _ in }
            }
            #expect(error?.code == code)
        }
    }

    /// A server that reads one line, runs `answer`, and closes.
    private func withFakeServer(
        _ answer: @escaping @Sendable (NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws -> Void,
        _ body: (ControlSocket) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        _ = try ControlSecret.make(for: socket)
        let listener = try await ServerBootstrap(group: group).bind(unixDomainSocketPath: socket.path) { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        let serving = Task {
            try await listener.executeThenClose { connections in
                for try await connection in connections {
                    try await connection.executeThenClose { inbound, outbound in
                        for try await _ in inbound { break }
                        try await answer(outbound)
                    }
                    break
                }
            }
        }
        try await body(socket)
        serving.cancel()
        _ = await serving.result
    }
}

@Suite("Places for connections")
struct SeatsTests {
    @Test("if all places are taken, a new client gets the place of the longest idle one")
    func longestIdle() throws {
        let left = Recorder<Int>()
        let seats = Seats(3)
        let three = (0..<3).map { number in seats.take { left.record(number) } }
        three[0]?.setBusy(true)
        three[0]?.setBusy(false)
        #expect(seats.take { left.record(3) } != nil)
        #expect(seats.take { left.record(4) } != nil)
        #expect(seats.take { left.record(5) } != nil)
        #expect(left.all == [1, 2, 0])
        // Other clients have their seats now.
        for seat in three {
            seat?.setBusy(true)
            seat?.giveBack()
        }
        #expect(seats.take { left.record(6) } != nil)
        #expect(left.all == [1, 2, 0, 3])
    }

    @Test("if all clients are being served, none is disconnected, and a returned place is free")
    func allBusy() {
        let seats = Seats(2)
        let first = seats.take { Issue.record("turned out") }
        let second = seats.take { Issue.record("turned out") }
        first?.setBusy(true)
        second?.setBusy(true)
        #expect(seats.take {} == nil)
        second?.giveBack()
        #expect(seats.take {} != nil)
    }
}

@Suite("The feed of events")
struct EventFeedTests {
    @Test("the first events of a watcher do not count against its backlog, and written events free room")
    func bounds() throws {
        let line = try ControlCoding.line(event(1, bytes: 400))
        let feed = EventFeed(backlogBytes: 2 * line.readableBytes)
        for number in 1...20 { feed.send(offer(number)) }
        let dropped = Recorder<Void>()
        let watching = try #require(feed.watch { dropped.record(()) })
        for _ in 0..<10 {
            feed.send(event(1, bytes: 400))
            watching.written(line)
        }
        feed.send(event(1, bytes: 400))
        feed.send(event(1, bytes: 400))
        #expect(dropped.count == 0 && feed.watchers == 1)
        feed.send(event(1, bytes: 400))
        #expect(dropped.count == 1 && feed.watchers == 0)
        watching.leave()
        feed.send(event(1, bytes: 4_000))
        #expect(dropped.count == 1, "once")
    }

    @Test("one event that is longer than the whole backlog drops its watcher, and no other")
    func huge() throws {
        let feed = EventFeed(backlogBytes: 1_000)
        let dropped = Recorder<Void>()
        #expect(feed.watch { dropped.record(()) } != nil)
        feed.send(event(1, bytes: 4_000))
        #expect(dropped.count == 1)
        #expect(feed.watch { dropped.record(()) } != nil)
        feed.send(event(2))
        #expect(dropped.count == 1 && feed.watchers == 1)
    }
}

extension ArrivalLine {
    fileprivate static let sample: ArrivalLine = {
        let text = """
            {"change": "stored", "arrival": 12, "from": {"id": "p", "name": "n\\u001b", "contact": "anna"}, "transfer": "t",
             "item": 1, "name": "a.jpg", "stored": "a-1.jpg", "path": "/in/a-1.jpg", "type": "public.jpeg",
             "size": 18446744073709551615, "digest": "xxh3-128:00", "content": "lying", "kind": "file",
             "isSealed": false}
            """
        do {
            return try JSONDecoder().decode(ArrivalLine.self, from: Data(text.utf8))
        } catch {
            fatalError("the sample is no line: \(error)")
        }
    }()
}
