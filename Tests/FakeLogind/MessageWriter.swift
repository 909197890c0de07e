import CDBus

/// Writes the arguments of a message of the fake.
struct MessageWriter {
    private var iterator = DBusMessageIter()

    init(_ message: OpaquePointer) {
        dbus_message_iter_init_append(message, &iterator)
    }

    private init() {}

    mutating func string(_ text: String) { basic(text, "s") }
    mutating func path(_ path: String) { basic(path, "o") }

    mutating func boolean(_ value: Bool) {
        var value: UInt32 = value ? 1 : 0
        dbus_message_iter_append_basic(&iterator, Self.code("b"), &value)
    }

    mutating func uint32(_ value: UInt32) {
        var value = value
        dbus_message_iter_append_basic(&iterator, Self.code("u"), &value)
    }

    mutating func array(of elements: String, _ body: (inout MessageWriter) -> Void = { _ in }) {
        container("a", elements, body)
    }

    mutating func structure(_ body: (inout MessageWriter) -> Void) { container("r", nil, body) }

    mutating func variant(_ signature: String, _ body: (inout MessageWriter) -> Void) {
        container("v", signature, body)
    }

    mutating func entry(_ key: String, _ signature: String, _ body: (inout MessageWriter) -> Void) {
        container("e", nil) { entry in
            entry.string(key)
            entry.variant(signature, body)
        }
    }

    private mutating func basic(_ text: String, _ type: Unicode.Scalar) {
        text.withCString { start in
            var start: UnsafePointer<CChar>? = start
            _ = dbus_message_iter_append_basic(&iterator, Self.code(type), &start)
        }
    }

    private mutating func container(_ type: Unicode.Scalar, _ signature: String?, _ body: (inout MessageWriter) -> Void)
    {
        var inner = MessageWriter()
        dbus_message_iter_open_container(&iterator, Self.code(type), signature, &inner.iterator)
        body(&inner)
        dbus_message_iter_close_container(&iterator, &inner.iterator)
    }

    private static func code(_ scalar: Unicode.Scalar) -> Int32 { Int32(scalar.value) }
}
