import CDBus
import Foundation
import TestSupport

/// A service on a bus, with one method: it answers each call and records the texts and contents of its arguments.
final class FakeService: Sendable {
    /// The texts of a call; an array is its elements, and a descriptor is the text that can be read from it.
    let calls = Recorder<[String]>()

    /// - Parameter signature: of the arguments of the method.
    init(_ address: String, name: String, interface: String, method: String, signature: String) async throws {
        let isReady = Recorder<Bool>()
        Thread.detachNewThread { [calls] in
            guard let bus = dbus_connection_open_private(address, nil) else { return }
            dbus_connection_set_exit_on_disconnect(bus, 0)
            guard dbus_bus_register(bus, nil) != 0, dbus_bus_request_name(bus, name, 0, nil) > 0 else { return }
            isReady.record(true)
            // Ends with the bus.
            while dbus_connection_read_write(bus, -1) != 0 {
                while let message = dbus_connection_pop_message(bus) {
                    if dbus_message_is_method_call(message, interface, method) != 0,
                        dbus_message_has_signature(message, signature) != 0
                    {
                        var reader = DBusMessageIter()
                        dbus_message_iter_init(message, &reader)
                        calls.record(Self.texts(&reader))
                        Self.answer(message, bus)
                    }
                    dbus_message_unref(message)
                }
            }
            dbus_connection_close(bus)
            dbus_connection_unref(bus)
        }
        try await isReady.first()
    }

    private static func texts(_ reader: inout DBusMessageIter) -> [String] {
        var texts: [String] = []
        repeat {
            switch UInt8(truncatingIfNeeded: dbus_message_iter_get_arg_type(&reader)) {
            case UInt8(ascii: "s"):
                var text: UnsafePointer<CChar>?
                dbus_message_iter_get_basic(&reader, &text)
                texts.append(text.map { String(cString: $0) } ?? "")
            case UInt8(ascii: "b"):
                var value: UInt32 = 0
                dbus_message_iter_get_basic(&reader, &value)
                texts.append(value != 0 ? "true" : "false")
            case UInt8(ascii: "h"):
                var file: Int32 = -1
                dbus_message_iter_get_basic(&reader, &file)
                texts.append(contents(of: file))
            case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "v"):
                var inner = DBusMessageIter()
                dbus_message_iter_recurse(&reader, &inner)
                texts += Self.texts(&inner)
            default: break
            }
        } while dbus_message_iter_next(&reader) != 0
        return texts
    }

    /// The text of a file, with the mode in which it is open.
    private static func contents(of file: Int32) -> String {
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        let isReadOnly = fcntl(file, F_GETFL) & O_ACCMODE == O_RDONLY
        let data = (try? handle.readToEnd()) ?? Data()
        return (isReadOnly ? "read-only " : "writable ") + String(decoding: data, as: UTF8.self)
    }

    /// With the path of an object, as the portal does; the file manager's answer has no arguments that anybody reads.
    private static func answer(_ message: OpaquePointer, _ bus: OpaquePointer) {
        guard let reply = dbus_message_new_method_return(message) else { return }
        var writer = DBusMessageIter()
        dbus_message_iter_init_append(reply, &writer)
        "/org/example/request".withCString { start in
            var start: UnsafePointer<CChar>? = start
            _ = dbus_message_iter_append_basic(&writer, Int32(UInt8(ascii: "o")), &start)
        }
        dbus_connection_send(bus, reply, nil)
        dbus_connection_flush(bus)
        dbus_message_unref(reply)
    }
}
