import CDBus

/// Type codes of the D-Bus Specification. The header defines them as macros with a cast, which Swift cannot import.
enum BusType {
    static let invalid: Int32 = 0
    static let array = code("a")
    static let byte = code("y")
    static let dictionaryEntry = code("e")
    static let int32 = code("i")
    static let string = code("s")
    static let uint32 = code("u")
    static let variant = code("v")

    private static func code(_ scalar: Unicode.Scalar) -> Int32 { Int32(scalar.value) }
}

/// One message of D-Bus. Used by one thread.
///
/// libdbus ends the process if it gets a forbidden value (an invalid name, a text with NUL). Names here are our
/// own, and `BusWriter.string` replaces NUL in texts.
final class BusMessage {
    enum Kind {
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

    /// A call that starts no program.
    ///
    /// - Returns: nil if memory is exhausted.
    static func call(to destination: String, path: String, interface: String, member: String) -> BusMessage? {
        guard let raw = dbus_message_new_method_call(destination, path, interface, member) else { return nil }
        dbus_message_set_auto_start(raw, 0)
        return BusMessage(owning: raw)
    }

    /// Must be called before the message is sent.
    func wantsNoReply() {
        dbus_message_set_no_reply(raw, 1)
    }

    /// The error reply to a call that this program does not handle; nil for any message that wants no answer.
    func refusal() -> BusMessage? {
        guard kind == .call, dbus_message_get_no_reply(raw) == 0 else { return nil }
        return dbus_message_new_error(raw, "org.freedesktop.DBus.Error.UnknownMethod", "there is no such method")
            .map(BusMessage.init(owning:))
    }

    var kind: Kind {
        // The values of DBUS_MESSAGE_TYPE_….
        switch dbus_message_get_type(raw) {
        case 1: .call
        case 2: .reply
        case 3: .error
        case 4: .signal
        default: .other
        }
    }

    var serial: UInt32 { dbus_message_get_serial(raw) }
    var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }
    var sender: String? { text(dbus_message_get_sender(raw)) }
    var path: String? { text(dbus_message_get_path(raw)) }
    var interface: String? { text(dbus_message_get_interface(raw)) }
    var member: String? { text(dbus_message_get_member(raw)) }
    var errorName: String? { text(dbus_message_get_error_name(raw)) }
    var signature: String { text(dbus_message_get_signature(raw)) ?? "" }

    private func text(_ borrowed: UnsafePointer<CChar>?) -> String? { borrowed.map { String(cString: $0) } }

    /// Calls `body` with a reader that starts at the first argument.
    func read<Result>(_ body: (inout BusReader) -> Result) -> Result {
        var reader = BusReader()
        dbus_message_iter_init(raw, &reader.iterator)
        return body(&reader)
    }

    /// Calls `body` with a writer that appends arguments.
    ///
    /// - Returns: whether memory sufficed for all arguments; if not, the message must be discarded.
    func write(_ body: (inout BusWriter) -> Void) -> Bool {
        var writer = BusWriter()
        dbus_message_iter_init_append(raw, &writer.iterator)
        body(&writer)
        return writer.isWhole
    }
}

/// Reads the arguments of a message. libdbus has checked them against their signature.
struct BusReader {
    fileprivate var iterator = DBusMessageIter()

    fileprivate init() {}

    /// The next argument if it is a text; otherwise it is not consumed.
    mutating func string() -> String? {
        guard dbus_message_iter_get_arg_type(&iterator) == BusType.string else { return nil }
        var value: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &value)
        dbus_message_iter_next(&iterator)
        return value.map { String(cString: $0) }
    }

    /// The next argument if it is a 32-bit number; otherwise it is not consumed.
    mutating func uint32() -> UInt32? {
        guard dbus_message_iter_get_arg_type(&iterator) == BusType.uint32 else { return nil }
        var value: UInt32 = 0
        dbus_message_iter_get_basic(&iterator, &value)
        dbus_message_iter_next(&iterator)
        return value
    }

    /// The first texts of the array that is the next argument; nil if it is no such array.
    func strings(most: Int) -> [String]? {
        var iterator = iterator
        guard dbus_message_iter_get_arg_type(&iterator) == BusType.array,
            dbus_message_iter_get_element_type(&iterator) == BusType.string
        else { return nil }
        var inner = BusReader()
        dbus_message_iter_recurse(&iterator, &inner.iterator)
        var result: [String] = []
        while result.count < most, let text = inner.string() { result.append(text) }
        return result
    }
}

/// Writes the arguments of a message.
struct BusWriter {
    fileprivate var iterator = DBusMessageIter()
    fileprivate(set) var isWhole = true

    fileprivate init() {}

    mutating func string(_ text: String) {
        // A NUL would end the text early.
        text.replacing("\0", with: "\u{FFFD}").withCString { start in
            var start: UnsafePointer<CChar>? = start
            basic(BusType.string, &start)
        }
    }

    mutating func uint32(_ value: UInt32) {
        var value = value
        basic(BusType.uint32, &value)
    }

    mutating func int32(_ value: Int32) {
        var value = value
        basic(BusType.int32, &value)
    }

    mutating func byte(_ value: UInt8) {
        var value = value
        basic(BusType.byte, &value)
    }

    /// - Parameter elements: the signature of one element.
    mutating func array(of elements: String, _ body: (inout BusWriter) -> Void) {
        container(BusType.array, elements, body)
    }

    /// An entry of an `a{sv}`.
    mutating func entry(_ key: String, _ signature: String, _ body: (inout BusWriter) -> Void) {
        container(BusType.dictionaryEntry, nil) { entry in
            entry.string(key)
            entry.container(BusType.variant, signature, body)
        }
    }

    private mutating func basic(_ type: Int32, _ value: UnsafeRawPointer) {
        guard isWhole else { return }
        if dbus_message_iter_append_basic(&iterator, type, value) == 0 { isWhole = false }
    }

    private mutating func container(_ type: Int32, _ signature: String?, _ body: (inout BusWriter) -> Void) {
        guard isWhole else { return }
        var inner = BusWriter()
        guard dbus_message_iter_open_container(&iterator, type, signature, &inner.iterator) != 0 else {
            isWhole = false
            return
        }
        body(&inner)
        guard inner.isWhole else {
            dbus_message_iter_abandon_container(&iterator, &inner.iterator)
            isWhole = false
            return
        }
        if dbus_message_iter_close_container(&iterator, &inner.iterator) == 0 { isWhole = false }
    }
}
