import CDBus
import Foundation
import Glibc
import Synchronization
import TestSupport

@testable import DBusClient

/// A notification server that does as a test says.
final class FakeServer: Sendable {
    struct Notification: Hashable, Sendable {
        var replaces: UInt32
        var summary: String
        var body: String
        /// Keys and labels in turn.
        var actions: [String]
        /// The hint `image-path`.
        var picture: String?

        func key(_ action: String) -> String { actions.first { $0.hasPrefix(action + "-") } ?? "none" }
    }

    enum Heard: Hashable, Sendable {
        case named
        case askedForCapabilities
        case notify(Notification)
        case close(UInt32)
        case gone
    }

    enum Answer: Sendable {
        case id(UInt32)
        case text(String)
        case error
        case nothing
    }

    struct Behaviour: Sendable {
        /// Nil: no answer.
        var capabilities: [String]? = ["actions", "body", "body-markup"]
        /// To the how manieth call of `Notify`, from 1.
        var notify: @Sendable (Int, Notification) -> Answer = { number, call in
            .id(call.replaces == 0 ? UInt32(number) : call.replaces)
        }
        /// False: another connection on the bus, and no server.
        var takesName = true
    }

    let heard = Recorder<Heard>()
    private let jobs = Mutex<[@Sendable (BusConnection) -> Void]>([])
    private let isOver = Atomic<Bool>(false)
    private let wake: (reading: Int32, writing: Int32)

    init(_ bus: TestBus, _ behaviour: Behaviour = Behaviour()) async throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wake = (ends[0], ends[1])
        let environment = bus.environment
        Thread.detachNewThread { [self] in run(environment, behaviour) }
        try await heard.first { $0 == .named }
    }

    /// All calls of `Notify` so far.
    var notifications: [Notification] {
        heard.all.compactMap { if case .notify(let call) = $0 { call } else { nil } }
    }

    /// Waits for the next call of `Notify` that matches.
    @discardableResult
    func notified(
        where matches: @escaping @Sendable (Notification) -> Bool = { _ in true }
    ) async throws -> Notification {
        let found = try await heard.first {
            if case .notify(let call) = $0 { matches(call) } else { false }
        }
        guard case .notify(let call) = found else { throw CancellationError() }
        return call
    }

    func press(_ id: UInt32, _ key: String, to destination: String? = nil) {
        signal("ActionInvoked", to: destination) { arguments in
            arguments.uint32(id)
            arguments.string(key)
        }
    }

    func close(_ id: UInt32, reason: UInt32) {
        signal("NotificationClosed") { arguments in
            arguments.uint32(id)
            arguments.uint32(reason)
        }
    }

    func signal(_ member: String, to destination: String? = nil, _ body: @escaping @Sendable (inout BusWriter) -> Void)
    {
        perform { connection in
            let path = "/org/freedesktop/Notifications"
            guard let raw = dbus_message_new_signal(path, "org.freedesktop.Notifications", member) else { return }
            let message = BusMessage(owning: raw)
            if let destination { dbus_message_set_destination(raw, destination) }
            _ = message.write(body)
            _ = connection.send(message)
        }
    }

    /// Leaves the bus.
    func leave() async throws {
        // Runs after all earlier jobs.
        perform { [self] _ in isOver.store(true, ordering: .sequentiallyConsistent) }
        try await heard.first { $0 == .gone }
    }

    private func perform(_ job: @escaping @Sendable (BusConnection) -> Void) {
        jobs.withLock { $0.append(job) }
        var byte: UInt8 = 0
        _ = write(wake.writing, &byte, 1)
    }

    private func run(_ environment: [String: String], _ behaviour: Behaviour) {
        do {
            guard let address = BusAddress.session(environment) else { return }
            let connection = try BusConnection.open(address, limits: BusLimits(messageBytes: 1 << 20))
            send(connection, "Hello") { _ in }
            var calls = 0
            while connection.isConnected {
                while let message = connection.receive() { take(message, connection, behaviour, &calls) }
                for job in jobs.withLock({ jobs in
                    defer { jobs = [] }
                    return jobs
                }) { job(connection) }
                if isOver.load(ordering: .sequentiallyConsistent) { break }
                var waits = [pollfd(fd: wake.reading, events: Int16(POLLIN), revents: 0)] + connection.polled
                _ = poll(&waits, nfds_t(waits.count), -1)
                if waits[0].revents != 0 {
                    var byte: UInt8 = 0
                    _ = read(wake.reading, &byte, 1)
                }
                connection.handle(waits[1...])
            }
        } catch {
            heard.record(.gone)
            return
        }
        heard.record(.gone)
    }

    private func send(_ connection: BusConnection, _ member: String, _ body: (inout BusWriter) -> Void) {
        let bus = "org.freedesktop.DBus"
        let path = "/org/freedesktop/DBus"
        guard let message = BusMessage.call(to: bus, path: path, interface: bus, member: member) else { return }
        _ = message.write(body)
        _ = connection.send(message)
    }

    private func take(
        _ message: BusMessage, _ connection: BusConnection, _ behaviour: Behaviour, _ calls: inout Int
    ) {
        switch (message.kind, message.member) {
        // Hello's, whose answer is a text; RequestName's is a number.
        case (.reply, _) where message.signature == "s":
            guard behaviour.takesName else {
                heard.record(.named)
                return
            }
            send(connection, "RequestName") { arguments in
                arguments.string("org.freedesktop.Notifications")
                // Queued where the one before is not quite gone.
                arguments.uint32(0)
            }
        case (.reply, _):
            heard.record(.named)
        case (.call, "GetCapabilities"):
            heard.record(.askedForCapabilities)
            guard let capabilities = behaviour.capabilities else { return }
            reply(message, connection) { arguments in
                arguments.array(of: "s") { array in
                    for text in capabilities { array.string(text) }
                }
            }
        case (.call, "Notify"):
            guard message.signature == "susssasa{sv}i", let call = message.read({ Self.notification(&$0) }) else {
                return
            }
            calls += 1
            heard.record(.notify(call))
            switch behaviour.notify(calls, call) {
            case .id(let id): reply(message, connection) { $0.uint32(id) }
            case .text(let text): reply(message, connection) { $0.string(text) }
            case .error:
                if let raw = dbus_message_new_error(message.raw, "org.example.Error", "no") {
                    _ = connection.send(BusMessage(owning: raw))
                }
            case .nothing: break
            }
        case (.call, "CloseNotification"):
            if let id = message.read({ $0.uint32() }) { heard.record(.close(id)) }
        default:
            break
        }
    }

    private static func notification(_ arguments: inout BusReader) -> Notification? {
        guard arguments.string() == "Waft", let replaces = arguments.uint32(), arguments.string() == "folder-download",
            let summary = arguments.string(), let body = arguments.string(), let actions = arguments.strings(most: 100)
        else { return nil }
        return Notification(
            replaces: replaces, summary: summary, body: body, actions: actions, picture: arguments.hint("image-path"))
    }

    private func reply(_ message: BusMessage, _ connection: BusConnection, _ body: (inout BusWriter) -> Void) {
        guard let raw = dbus_message_new_method_return(message.raw) else { return }
        let answer = BusMessage(owning: raw)
        _ = answer.write(body)
        _ = connection.send(answer)
    }
}

extension BusReader {
    /// A text among the hints, which follow the next argument.
    fileprivate mutating func hint(_ name: String) -> String? {
        dbus_message_iter_next(&iterator)
        var hints = BusReader()
        dbus_message_iter_recurse(&iterator, &hints.iterator)
        while dbus_message_iter_get_arg_type(&hints.iterator) == BusType.dictionaryEntry {
            var entry = BusReader()
            dbus_message_iter_recurse(&hints.iterator, &entry.iterator)
            if entry.string() == name { return entry.variant { $0.string() } }
            dbus_message_iter_next(&hints.iterator)
        }
        return nil
    }
}
