import CDBus
import Glibc
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

    /// Reads the parts of the next argument if it is a structure or an entry of a dictionary; otherwise it is not consumed.
    package mutating func structure<Value>(_ body: (inout BusReader) -> Value?) -> Value? {
        let type = dbus_message_iter_get_arg_type(&iterator)
        guard type == BusType.structure || type == BusType.dictionaryEntry else { return nil }
        var inner = BusReader()
        dbus_message_iter_recurse(&iterator, &inner.iterator)
        dbus_message_iter_next(&iterator)
        return body(&inner)
    }

    /// The first paths of the array of objects that is the next argument; nil if it is no array.
    package mutating func objectPaths(most: Int) -> [String]? {
        var paths: [String] = []
        return array(most: most) { if let path = $0.objectPath() { paths.append(path) } } ? paths : nil
    }

    /// Reads the first elements of the next argument if it is an array; otherwise it is not consumed.
    ///
    /// - Parameter body: called with a reader of each element.
    /// - Returns: whether it is an array.
    @discardableResult
    package mutating func array(most: Int, _ body: (inout BusReader) -> Void) -> Bool {
        guard dbus_message_iter_get_arg_type(&iterator) == BusType.array else { return false }
        var inner = BusReader()
        dbus_message_iter_recurse(&iterator, &inner.iterator)
        dbus_message_iter_next(&iterator)
        var count = 0
        while count < most, dbus_message_iter_get_arg_type(&inner.iterator) != BusType.none {
            // An iterator may be copied by assignment (libdbus, "DBusMessageIter").
            var element = inner
            body(&element)
            dbus_message_iter_next(&inner.iterator)
            count += 1
        }
        return true
    }

    /// Reads the first entries of the next argument if it is an `a{sv}`; otherwise it is not consumed.
    ///
    /// - Parameter body: called with each key, and a reader of its value.
    /// - Returns: whether it is an array.
    @discardableResult
    package mutating func dictionary(most: Int, _ body: (String, inout BusReader) -> Void) -> Bool {
        array(most: most) { entry in
            entry.structure { entry -> Void? in
                guard let key = entry.string() else { return nil }
                return entry.variant { body(key, &$0) }
            }
        }
    }

    /// Reads the next argument in place if it is an array of bytes; otherwise it is not consumed. The message's own bytes are
    /// zeroed afterwards: they may be a secret.
    package mutating func secret<Value>(_ body: (UnsafeRawBufferPointer) -> Value?) -> Value? {
        guard dbus_message_iter_get_arg_type(&iterator) == BusType.array,
            dbus_message_iter_get_element_type(&iterator) == BusType.byte
        else { return nil }
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        dbus_message_iter_next(&iterator)
        var start: UnsafeMutableRawPointer?
        var count: Int32 = 0
        dbus_message_iter_get_fixed_array(&inner, &start, &count)
        // libdbus gives no pointer to an empty array.
        let bytes = UnsafeMutableRawBufferPointer(start: start, count: start == nil ? 0 : Int(max(0, count)))
        defer { if let start { explicit_bzero(start, bytes.count) } }
        return body(UnsafeRawBufferPointer(bytes))
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
