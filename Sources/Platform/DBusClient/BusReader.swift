import CDBus
package import SystemCalls

/// Reads the arguments of a message. libdbus has checked them against their signature.
package struct BusReader {
    var iterator = DBusMessageIter()

    init() {}

    /// The next argument if it is a text; otherwise it is not consumed.
    package mutating func string() -> String? { text(BusType.string) }

    /// The next argument if it is the path of an object; otherwise it is not consumed.
    package mutating func objectPath() -> String? { text(BusType.objectPath) }

    /// The next argument if it is a 32-bit number; otherwise it is not consumed.
    package mutating func uint32() -> UInt32? {
        var value: UInt32 = 0
        return basic(BusType.uint32, &value) ? value : nil
    }

    /// The next argument if it is a truth value; otherwise it is not consumed.
    package mutating func boolean() -> Bool? {
        var value: UInt32 = 0
        return basic(BusType.boolean, &value) ? value != 0 : nil
    }

    /// The next argument if it is a descriptor; otherwise it is not consumed.
    /// - Returns: a copy, close-on-exec.
    package mutating func descriptor() -> FileDescriptor? {
        var value: Int32 = -1
        guard basic(BusType.descriptor, &value), value >= 0 else { return nil }
        return FileDescriptor(owning: value)
    }

    /// Reads the value of the next argument if it is a variant; otherwise it is not consumed.
    package mutating func variant<Value>(_ body: (inout BusReader) -> Value?) -> Value? {
        guard dbus_message_iter_get_arg_type(&iterator) == BusType.variant else { return nil }
        var inner = BusReader()
        dbus_message_iter_recurse(&iterator, &inner.iterator)
        dbus_message_iter_next(&iterator)
        return body(&inner)
    }

    /// The first texts of the array that is the next argument; nil if it is no such array.
    package func strings(most: Int) -> [String]? {
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

    private mutating func text(_ type: Int32) -> String? {
        var value: UnsafePointer<CChar>?
        guard basic(type, &value) else { return nil }
        return value.map { String(cString: $0) }
    }

    /// - Parameter value: the place for a value of this type.
    private mutating func basic(_ type: Int32, _ value: UnsafeMutableRawPointer) -> Bool {
        guard dbus_message_iter_get_arg_type(&iterator) == type else { return false }
        dbus_message_iter_get_basic(&iterator, value)
        dbus_message_iter_next(&iterator)
        return true
    }
}
