import FakeLogind
import Foundation
import SystemCalls
import TestSupport
import Testing

@testable import DBusClient

@Suite("A client of a message bus", .timeLimit(.minutes(1)))
struct BusClientTests {
    private static let limits = BusLimits(messageBytes: 64 << 10, descriptors: 1)

    private static func connect(_ bus: FakeLogind, _ limits: BusLimits = limits) async throws -> BusClient {
        try await BusClient.connect(to: try #require(BusAddress(bus.address)), limits: limits)
    }

    private static func inhibit(_ arguments: [String] = ["idle", "a", "b", "block"]) -> BusCall {
        BusCall(
            to: "org.freedesktop.login1", path: "/org/freedesktop/login1", interface: "org.freedesktop.login1.Manager",
            member: "Inhibit"
        ) { writer in
            for text in arguments { writer.string(text) }
        }
    }

    private static func changes(of name: String) -> BusMatch {
        BusMatch(from: name, path: "/org/example", interface: "org.example.Changes", member: "Changed")
    }

    /// Sends a signal from a client, to all or to one connection.
    private static func send(_ number: UInt32, as match: BusMatch, from client: BusClient) async throws {
        client.thread.perform { session in
            guard
                let message = BusMessage.signal(
                    path: match.path ?? "/", interface: match.interface, member: match.member),
                message.write({ $0.uint32(number) })
            else { return }
            _ = session.connection?.send(message)
        }
    }

    @Test("a reply brings its arguments, descriptors among them")
    func descriptor() async throws {
        let bus = try await FakeLogind()
        defer { bus.end() }
        let client = try await Self.connect(bus)
        let isOpen = try await client.call(Self.inhibit()) { arguments in
            guard let descriptor = arguments.descriptor() else { return nil as Bool? }
            return fcntl(descriptor.raw, F_GETFD) == FD_CLOEXEC
        }
        #expect(isOpen)
        try await bus.heard.first { $0 == .inhibit(["idle", "a", "b", "block"]) }
        try await bus.heard.first { $0 == .released }
    }

    @Test("an error, a reply of another kind, and no reply at all are errors of the call")
    func failures() async throws {
        let bus = try await FakeLogind(refuses: ["idle"])
        defer { bus.end() }
        let client = try await Self.connect(bus)
        await #expect(throws: BusError.refused("org.freedesktop.DBus.Error.AccessDenied")) {
            try await client.call(Self.inhibit()) { $0.string() }
        }
        await #expect(throws: BusError.unexpectedReply) {
            try await client.call(.bus("GetId")) { $0.uint32() }
        }
        var unanswered = Self.inhibit()
        unanswered.member = "Unheard"
        let call = unanswered
        await #expect(throws: BusError.silent) {
            try await client.call(call, timeout: .milliseconds(1)) { $0.string() }
        }
        await #expect(throws: BusError.refused("org.freedesktop.DBus.Error.NameHasNoOwner")) {
            let call = BusCall(to: "org.example.None", path: "/", interface: "org.example.None", member: "None")
            _ = try await client.call(call) { $0.string() }
        }
    }

    @Test("a message over the bound ends the connection, and all calls with it")
    func tooLarge() async throws {
        let bus = try await FakeLogind()
        defer { bus.end() }
        let client = try await Self.connect(bus, BusLimits(messageBytes: 1_024))
        var introspect = BusCall.bus("Introspect")
        introspect.interface = "org.freedesktop.DBus.Introspectable"
        let call = introspect
        await #expect(throws: BusError.disconnected) { try await client.call(call) { $0.string() } }
        await #expect(throws: BusError.disconnected) {
            try await client.call(.bus("GetId")) { $0.string() }
        }
    }

    @Test("without a bus there is no client")
    func unreachable() async throws {
        let folder = TemporaryFolder()
        let address = try #require(BusAddress("unix:path=" + folder / "none"))
        await #expect(throws: BusError.self) { try await BusClient.connect(to: address, limits: Self.limits) }
    }

    private static let ownerChanges = BusMatch(
        from: BusName.bus, path: BusName.busPath, interface: BusName.bus, member: "NameOwnerChanged")

    @Test("a name has one owner, until that one is released")
    func names() async throws {
        let bus = try await FakeLogind()
        defer { bus.end() }
        var first: BusClient? = try await Self.connect(bus)
        try await first?.own("org.example.Name")
        try await first?.own("org.example.Name")
        let second = try await Self.connect(bus)
        await #expect(throws: BusError.nameTaken) { try await second.own("org.example.Name") }
        let changes = try await second.signals(Self.ownerChanges) { $0.string() }
        first = nil
        for await name in changes where name == "org.example.Name" { break }
        try await second.own("org.example.Name")
    }

    @Test("a signal comes from the owner of the name only, also after the owner has changed")
    func signals() async throws {
        let bus = try await FakeLogind()
        defer { bus.end() }
        let client = try await Self.connect(bus)
        let match = Self.changes(of: "org.example.Service")
        let numbers = try await client.signals(match) { $0.uint32() }
        var iterator = numbers.makeAsyncIterator()
        let owners = try await client.signals(Self.ownerChanges) { $0.string() }
        var owned = owners.filter { $0 == "org.example.Service" }.makeAsyncIterator()
        for number in [1, 2] as [UInt32] {
            do {
                let service = try await Self.connect(bus)
                let forger = try await Self.connect(bus)
                try await service.own("org.example.Service")
                try await Self.send(99, as: match, from: forger)
                // The bus has passed on the forger's signal before it answers.
                _ = try await forger.call(.bus("GetId")) { $0.string() }
                try await Self.send(number, as: match, from: service)
                #expect(await iterator.next() == number)
            }
            // The name was taken, and then released.
            for _ in 1...2 { _ = await owned.next() }
        }
    }

    @Test("several signals come in one stream in their order, and a stream that is full ends")
    func severalSignals() async throws {
        let bus = try await FakeLogind()
        defer { bus.end() }
        let (client, service) = (try await Self.connect(bus), try await Self.connect(bus))
        let matches = ["org.example.One", "org.example.Two"].map { Self.changes(of: $0) }
        try await service.own("org.example.One")
        try await service.own("org.example.Two")
        let numbers = try await client.signals(matches, buffer: 2) { signal, arguments in
            signal.member == "Changed" ? arguments.uint32() : nil
        }
        for number in 1...3 as ClosedRange<UInt32> {
            try await Self.send(number, as: matches[Int(number) % 2], from: service)
        }
        // Each answer is behind the signals: the stream has them.
        _ = try await service.call(.bus("GetId")) { $0.string() }
        _ = try await client.call(.bus("GetId")) { $0.string() }
        var got: [UInt32] = []
        for await number in numbers { got.append(number) }
        #expect(got == [1, 2])
    }

    @Test("a client that is closed, or whose task is cancelled, waits for nothing")
    func closed() async throws {
        let bus = try await FakeLogind()
        defer { bus.end() }
        var unanswered = Self.inhibit()
        unanswered.member = "Unheard"
        let call = unanswered
        let (first, second) = (try await Self.connect(bus), try await Self.connect(bus))
        let waiting = Task { () async throws(BusError) -> String in
            try await first.untilCancelled { () async throws(BusError) in try await first.call(call) { $0.string() } }
        }
        waiting.cancel()
        await #expect(throws: BusError.disconnected) { try await waiting.value }
        second.close()
        await #expect(throws: BusError.disconnected) { try await second.call(call) { $0.string() } }
    }

    @Test("signals of a bus that stands still are an error of whoever asks for them")
    func busStandsStill() async throws {
        let bus = try await FakeLogind()
        defer { bus.end() }
        let client = try await Self.connect(bus)
        bus.pause()
        // The answers that do not come are counted in any order.
        for number in 1...20 {
            await #expect(throws: BusError.silent) {
                _ = try await client.signals(Self.changes(of: "org.example.No\(number)"), timeout: .milliseconds(1)) {
                    $0.uint32()
                }
            }
        }
    }

    @Test("streams of signals end with the bus, and calls that wait fail")
    func busEnds() async throws {
        let bus = try await FakeLogind()
        let client = try await Self.connect(bus)
        let numbers = try await client.signals(Self.changes(of: "org.example.Service")) { $0.uint32() }
        bus.end()
        for await _ in numbers {}
        await #expect(throws: BusError.disconnected) { try await client.call(.bus("GetId")) { $0.string() } }
    }
}
