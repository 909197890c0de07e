import CDBus
import Glibc

/// A connection to a bus. Its owner polls it. Used by one thread.
///
/// It does not use libdbus' own waiting functions: they wait for one connection alone, and its blocking calls wait for
/// a bus that may never answer. It polls only for the events that libdbus wants, so it never spins.
package final class BusConnection {
    /// `DBusConnection`, owned. It is private, so it must be closed before its last reference is released.
    private let raw: OpaquePointer
    /// `DBusWatch`es, owned by libdbus. Each stays in this list as long as it may be used.
    private var watches: [OpaquePointer] = []

    /// Connects to a Unix socket. This takes no time if the bus runs.
    ///
    /// - Throws: `BusError.unreachable`.
    package static func open(_ address: BusAddress, limits: BusLimits) throws(BusError) -> BusConnection {
        var error = DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        // libdbus asks for no SIGPIPE at each write. A library must not change the program's signal disposition.
        dbus_connection_set_change_sigpipe(0)
        guard let raw = dbus_connection_open_private(address.text, &error) else {
            throw .unreachable(error.message.map { String(cString: $0) } ?? "no reason given")
        }
        let connection = BusConnection(owning: raw, limits)
        guard connection.beginWatching() else { throw .unreachable("no memory") }
        return connection
    }

    private init(owning raw: OpaquePointer, _ limits: BusLimits) {
        self.raw = raw
        dbus_connection_set_exit_on_disconnect(raw, 0)
        dbus_connection_set_max_message_size(raw, limits.messageBytes)
        dbus_connection_set_max_received_size(raw, 2 * limits.messageBytes)
        dbus_connection_set_max_message_unix_fds(raw, limits.descriptors)
    }

    deinit {
        dbus_connection_set_watch_functions(raw, nil, nil, nil, nil, nil)
        dbus_connection_close(raw)
        // Removes "Disconnected" and all messages before it.
        while let message = dbus_connection_pop_message(raw) { dbus_message_unref(message) }
        dbus_connection_unref(raw)
    }

    private func beginWatching() -> Bool {
        let isSet = dbus_connection_set_watch_functions(
            raw,
            { watch, connection in
                guard let watch, let connection else { return 0 }
                Unmanaged<BusConnection>.fromOpaque(connection).takeUnretainedValue().watches.append(watch)
                return 1
            },
            { watch, connection in
                guard let watch, let connection else { return }
                Unmanaged<BusConnection>.fromOpaque(connection).takeUnretainedValue().watches.removeAll { $0 == watch }
            },
            // Each call of `polled` asks which watches are enabled.
            { _, _ in },
            // Not retained: these functions are removed before this object is released.
            Unmanaged.passUnretained(self).toOpaque(),
            nil
        )
        return isSet != 0
    }

    package var isConnected: Bool { dbus_connection_get_is_connected(raw) != 0 }

    /// Whether the socket has not yet taken all messages.
    package var isSending: Bool { dbus_connection_has_messages_to_send(raw) != 0 }

    /// The descriptors and events to poll for now.
    var polled: [pollfd] {
        watches.compactMap { watch in
            guard dbus_watch_get_enabled(watch) != 0 else { return nil }
            let flags = dbus_watch_get_flags(watch)
            var events: Int16 = 0
            if flags & UInt32(DBUS_WATCH_READABLE.rawValue) != 0 { events |= Int16(POLLIN) }
            if flags & UInt32(DBUS_WATCH_WRITABLE.rawValue) != 0 { events |= Int16(POLLOUT) }
            return pollfd(fd: dbus_watch_get_unix_fd(watch), events: events, revents: 0)
        }
    }

    /// Reads and writes the sockets that poll(2) reports as ready.
    func handle(_ polled: some Sequence<pollfd>) {
        for poll in polled where poll.revents != 0 {
            var flags: UInt32 = 0
            if poll.revents & Int16(POLLIN) != 0 { flags |= UInt32(DBUS_WATCH_READABLE.rawValue) }
            if poll.revents & Int16(POLLOUT) != 0 { flags |= UInt32(DBUS_WATCH_WRITABLE.rawValue) }
            if poll.revents & Int16(POLLHUP) != 0 { flags |= UInt32(DBUS_WATCH_HANGUP.rawValue) }
            if poll.revents & Int16(POLLERR | POLLNVAL) != 0 { flags |= UInt32(DBUS_WATCH_ERROR.rawValue) }
            // Handling a watch can add and remove watches of the same socket.
            for watch in watches where watches.contains(watch) && dbus_watch_get_unix_fd(watch) == poll.fd {
                let wanted = dbus_watch_get_flags(watch)
                let told = flags & (wanted | UInt32(DBUS_WATCH_HANGUP.rawValue | DBUS_WATCH_ERROR.rawValue))
                if told != 0, dbus_watch_get_enabled(watch) != 0 { dbus_watch_handle(watch, told) }
            }
        }
    }

    /// The next complete message.
    package func receive() -> BusMessage? {
        dbus_connection_pop_message(raw).map(BusMessage.init(owning:))
    }

    /// Sends without waiting.
    ///
    /// - Returns: the message's serial number, which its reply repeats; nil if the message cannot be sent.
    package func send(_ message: BusMessage) -> UInt32? {
        var serial: UInt32 = 0
        guard isConnected, dbus_connection_send(raw, message.raw, &serial) != 0 else { return nil }
        return serial
    }
}
