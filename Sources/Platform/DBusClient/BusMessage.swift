import CDBus

/// One message of D-Bus. Used by one thread.
///
/// libdbus ends the process if it gets a forbidden value (an invalid name, a text with NUL). Names here are our
/// own, and `BusWriter.string` replaces NUL in texts.
package final class BusMessage {
    package enum Kind {
        case call, reply, error, signal, other
    }

    /// `DBusMessage`, owned: one reference.
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) {
        self.raw = raw
    }

    deinit {
        dbus_message_unref(raw)
    }

    /// A call. The names must be valid.
    ///
    /// - Parameter startsService: whether the bus may start the service.
    /// - Returns: nil if memory is exhausted.
    package static func call(
        to destination: String, path: String, interface: String, member: String, startsService: Bool = false
    ) -> BusMessage? {
        guard let raw = dbus_message_new_method_call(destination, path, interface, member) else { return nil }
        dbus_message_set_auto_start(raw, startsService ? 1 : 0)
        return BusMessage(owning: raw)
    }

    /// A signal for everyone on the bus. The names must be valid.
    ///
    /// - Returns: nil if memory is exhausted.
    package static func signal(path: String, interface: String, member: String) -> BusMessage? {
        dbus_message_new_signal(path, interface, member).map(BusMessage.init(owning:))
    }

    /// Must be called before the message is sent.
    package func wantsNoReply() {
        dbus_message_set_no_reply(raw, 1)
    }

    /// The error reply to a call that this program does not handle; nil for any message that wants no answer.
    package func refusal() -> BusMessage? {
        guard kind == .call, dbus_message_get_no_reply(raw) == 0 else { return nil }
        return dbus_message_new_error(raw, "org.freedesktop.DBus.Error.UnknownMethod", "there is no such method")
            .map(BusMessage.init(owning:))
    }

    package var kind: Kind {
        // The values of DBUS_MESSAGE_TYPE_….
        switch dbus_message_get_type(raw) {
        case 1: .call
        case 2: .reply
        case 3: .error
        case 4: .signal
        default: .other
        }
    }

    package var serial: UInt32 { dbus_message_get_serial(raw) }
    package var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }
    package var sender: String? { text(dbus_message_get_sender(raw)) }
    package var path: String? { text(dbus_message_get_path(raw)) }
    package var interface: String? { text(dbus_message_get_interface(raw)) }
    package var member: String? { text(dbus_message_get_member(raw)) }
    package var errorName: String? { text(dbus_message_get_error_name(raw)) }
    package var signature: String { text(dbus_message_get_signature(raw)) ?? "" }

    private func text(_ borrowed: UnsafePointer<CChar>?) -> String? { borrowed.map { String(cString: $0) } }

    /// Calls `body` with a reader that starts at the first argument.
    package func read<Result>(_ body: (inout BusReader) -> Result) -> Result {
        var reader = BusReader()
        dbus_message_iter_init(raw, &reader.iterator)
        return body(&reader)
    }

    /// Calls `body` with a writer that appends arguments.
    ///
    /// - Returns: whether memory sufficed for all arguments; if not, the message must be discarded.
    package func write(_ body: (inout BusWriter) -> Void) -> Bool {
        var writer = BusWriter()
        dbus_message_iter_init_append(raw, &writer.iterator)
        body(&writer)
        return writer.isWhole
    }
}
