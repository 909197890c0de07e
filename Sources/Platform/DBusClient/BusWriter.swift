import CDBus

/// Writes the arguments of a message.
package struct BusWriter {
    var iterator = DBusMessageIter()
    private(set) var isWhole = true

    init() {}

    package mutating func string(_ text: String) {
        // A NUL would end the text early.
        text.replacing("\0", with: "\u{FFFD}").withCString { start in
            var start: UnsafePointer<CChar>? = start
            basic(BusType.string, &start)
        }
    }

    /// - Parameter path: a valid one, such as one that a message brought.
    package mutating func objectPath(_ path: String) {
        path.withCString { start in
            var start: UnsafePointer<CChar>? = start
            basic(BusType.objectPath, &start)
        }
    }

    package mutating func uint32(_ value: UInt32) {
        var value = value
        basic(BusType.uint32, &value)
    }

    package mutating func int32(_ value: Int32) {
        var value = value
        basic(BusType.int32, &value)
    }

    package mutating func byte(_ value: UInt8) {
        var value = value
        basic(BusType.byte, &value)
    }

    package mutating func boolean(_ value: Bool) {
        var value: UInt32 = value ? 1 : 0
        basic(BusType.boolean, &value)
    }

    /// - Parameter descriptor: an open one; the message gets a copy.
    package mutating func descriptor(_ descriptor: Int32) {
        var value = descriptor
        basic(BusType.descriptor, &value)
    }

    /// - Parameter elements: the signature of one element.
    package mutating func array(of elements: String, _ body: (inout BusWriter) -> Void) {
        container(BusType.array, elements, body)
    }

    package mutating func structure(_ body: (inout BusWriter) -> Void) {
        container(BusType.structure, nil, body)
    }

    /// - Parameter signature: of the value.
    package mutating func variant(_ signature: String, _ body: (inout BusWriter) -> Void) {
        container(BusType.variant, signature, body)
    }

    /// An array of bytes.
    package mutating func bytes(_ bytes: UnsafeRawBufferPointer) {
        array(of: "y") { array in
            guard array.isWhole, !bytes.isEmpty else { return }
            var start = bytes.baseAddress
            if dbus_message_iter_append_fixed_array(&array.iterator, BusType.byte, &start, Int32(bytes.count)) == 0 {
                array.isWhole = false
            }
        }
    }

    /// An entry of an `a{ss}`.
    package mutating func pair(_ key: String, _ value: String) {
        container(BusType.dictionaryEntry, nil) { entry in
            entry.string(key)
            entry.string(value)
        }
    }

    /// An entry of an `a{sv}`.
    package mutating func entry(_ key: String, _ signature: String, _ body: (inout BusWriter) -> Void) {
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
