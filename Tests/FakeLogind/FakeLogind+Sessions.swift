import CDBus
private import Synchronization
import TestSupport

extension FakeLogind {
    /// A signal of logind.
    package enum Signal: Hashable, Sendable {
        case sleep(Bool)
        case lock(session: String)
        case unlock(session: String)
        /// The hint and the properties of a session change.
        case changed(FakeSession)
        case began(FakeSession)
        case ended(FakeSession)
    }

    /// A session begins.
    package func begin(_ session: FakeSession) {
        sessions.withLock { $0[session.path] = session }
        send(.began(session))
    }

    /// A session has other properties.
    package func change(_ session: FakeSession) {
        sessions.withLock { $0[session.path] = session }
        send(.changed(session))
    }

    /// A session ends.
    package func end(_ session: FakeSession) {
        sessions.withLock { $0[session.path] = nil }
        send(.ended(session))
    }

    /// Sends a signal as logind.
    package func send(_ signal: Signal) {
        perform { Self.send(signal, on: $0) }
    }

    /// Sends a signal from a connection that does not own logind's name, and waits until the bus has passed it on.
    package func forge(_ signal: Signal) {
        guard let bus = dbus_connection_open_private(address, nil) else { return }
        defer {
            dbus_connection_close(bus)
            dbus_connection_unref(bus)
        }
        guard dbus_bus_register(bus, nil) != 0 else { return }
        Self.send(signal, on: bus)
        // The bus answers in order.
        _ = dbus_bus_name_has_owner(bus, "org.freedesktop.login1", nil)
    }

    /// Leaves the bus.
    package func leave() {
        perform { _ = dbus_bus_release_name($0, "org.freedesktop.login1", nil) }
    }

    /// Comes back to the bus.
    package func comeBack() {
        perform { _ = dbus_bus_request_name($0, "org.freedesktop.login1", 0, nil) }
    }

    private static func send(_ signal: Signal, on bus: OpaquePointer) {
        let (manager, session) = ("org.freedesktop.login1.Manager", "org.freedesktop.login1.Session")
        let (path, interface, member) =
            switch signal {
            case .sleep: ("/org/freedesktop/login1", manager, "PrepareForSleep")
            case .began: ("/org/freedesktop/login1", manager, "SessionNew")
            case .ended: ("/org/freedesktop/login1", manager, "SessionRemoved")
            case .lock(let id): (FakeSession(id).path, session, "Lock")
            case .unlock(let id): (FakeSession(id).path, session, "Unlock")
            case .changed(let changed): (changed.path, "org.freedesktop.DBus.Properties", "PropertiesChanged")
            }
        guard let message = dbus_message_new_signal(path, interface, member) else { return }
        defer { dbus_message_unref(message) }
        var writer = MessageWriter(message)
        switch signal {
        case .sleep(let begins): writer.boolean(begins)
        case .began(let session), .ended(let session):
            writer.string(session.id)
            writer.path(session.path)
        case .changed(let changed):
            writer.string(session)
            writer.array(of: "{sv}") { properties in
                properties.entry("LockedHint", "b") { $0.boolean(changed.isLocked) }
            }
            writer.array(of: "s")
        case .lock, .unlock: break
        }
        dbus_connection_send(bus, message, nil)
        dbus_connection_flush(bus)
    }

    /// Answers `ListSessions`.
    func answerList(_ call: OpaquePointer, on bus: OpaquePointer) {
        reply(to: call, on: bus) { writer in
            writer.array(of: "(susso)") { list in
                for session in sessions.withLock({ $0.values.sorted { $0.id < $1.id } }) {
                    list.structure { entry in
                        entry.string(session.id)
                        entry.uint32(session.user)
                        entry.string("somebody")
                        entry.string("seat0")
                        entry.path(session.path)
                    }
                }
            }
        }
        heard.record(.listed)
    }

    /// Answers `GetAll` of a session.
    func answerAll(_ call: OpaquePointer, on bus: OpaquePointer) {
        let path = dbus_message_get_path(call).map { String(cString: $0) } ?? ""
        guard let session = sessions.withLock({ $0[path] }) else {
            guard let reply = dbus_message_new_error(call, "org.freedesktop.DBus.Error.UnknownObject", "gone") else {
                return
            }
            dbus_connection_send(bus, reply, nil)
            dbus_message_unref(reply)
            return
        }
        reply(to: call, on: bus) { writer in
            writer.array(of: "{sv}") { properties in
                properties.entry("Id", "s") { $0.string(session.id) }
                properties.entry("User", "(uo)") { user in
                    user.structure { user in
                        user.uint32(session.user)
                        user.path("/org/freedesktop/login1/user/_0")
                    }
                }
                properties.entry("Type", "s") { $0.string(session.type) }
                properties.entry("Class", "s") { $0.string(session.userClass) }
                properties.entry("State", "s") { $0.string(session.state) }
                properties.entry("LockedHint", "b") { $0.boolean(session.isLocked) }
            }
        }
        heard.record(.read(session.id))
    }

    private func reply(to call: OpaquePointer, on bus: OpaquePointer, _ body: (inout MessageWriter) -> Void) {
        guard let reply = dbus_message_new_method_return(call) else { return }
        defer { dbus_message_unref(reply) }
        var writer = MessageWriter(reply)
        body(&writer)
        dbus_connection_send(bus, reply, nil)
        dbus_connection_flush(bus)
    }
}
