import CDBus
import DBusClient
import Foundation
import TestSupport
import Testing

@testable import Desktop

/// A file manager on a bus: it answers each call and records its first argument.
private final class FakeFileManager: Sendable {
    let calls = Recorder<[String]>()

    init(_ address: String) async throws {
        let isReady = Recorder<Bool>()
        Thread.detachNewThread { [calls] in
            guard let bus = dbus_connection_open_private(address, nil) else { return }
            dbus_connection_set_exit_on_disconnect(bus, 0)
            guard dbus_bus_register(bus, nil) != 0,
                dbus_bus_request_name(bus, "org.freedesktop.FileManager1", 0, nil) > 0
            else { return }
            isReady.record(true)
            // Ends with the bus.
            while dbus_connection_read_write(bus, -1) != 0 {
                while let message = dbus_connection_pop_message(bus) {
                    Self.take(message, bus, calls)
                    dbus_message_unref(message)
                }
            }
            dbus_connection_close(bus)
            dbus_connection_unref(bus)
        }
        try await isReady.first()
    }

    private static func take(_ message: OpaquePointer, _ bus: OpaquePointer, _ calls: Recorder<[String]>) {
        guard dbus_message_is_method_call(message, "org.freedesktop.FileManager1", "ShowItems") != 0,
            dbus_message_has_signature(message, "ass") != 0
        else { return }
        var (reader, array) = (DBusMessageIter(), DBusMessageIter())
        dbus_message_iter_init(message, &reader)
        dbus_message_iter_recurse(&reader, &array)
        var texts: [String] = []
        while dbus_message_iter_get_arg_type(&array) == Int32(UInt8(ascii: "s")) {
            var text: UnsafePointer<CChar>?
            dbus_message_iter_get_basic(&array, &text)
            texts.append(text.map { String(cString: $0) } ?? "")
            dbus_message_iter_next(&array)
        }
        calls.record(texts)
        guard let reply = dbus_message_new_method_return(message) else { return }
        dbus_connection_send(bus, reply, nil)
        dbus_connection_flush(bus)
        dbus_message_unref(reply)
    }
}

@Suite("The file manager", .timeLimit(.minutes(1)))
struct FileManagerWindowTests {
    @Test("shows items by their addresses, whatever their names are")
    func shown() async throws {
        let bus = try await TestBus()
        let manager = try await FakeFileManager(try #require(bus.environment["DBUS_SESSION_BUS_ADDRESS"]))
        let address = BusAddress.session(bus.environment)
        try await FileManagerWindow.show(["/inbox/a b.pdf", "/inbox/%41?#\u{E4}"], on: address)
        #expect(try await manager.calls.first() == ["file:///inbox/a%20b.pdf", "file:///inbox/%2541%3F%23%C3%A4"])
    }

    @Test("that is missing is an error, and one that can be started is started")
    func missing() async throws {
        let bus = try await TestBus()
        let address = BusAddress.session(bus.environment)
        await #expect(throws: BusError.refused("org.freedesktop.DBus.Error.ServiceUnknown")) {
            try await FileManagerWindow.show(["/inbox/a"], on: address)
        }
        await #expect(throws: BusError.self) { try await FileManagerWindow.show(["/inbox/a"], on: nil) }
        let mark = bus.folder / "started"
        bus.folder.file(
            "services/org.freedesktop.FileManager1.service",
            "[D-BUS Service]\nName=org.freedesktop.FileManager1\nExec=/usr/bin/touch \(mark)\n")
        await #expect(throws: BusError.self) { try await FileManagerWindow.show(["/inbox/a"], on: address) }
        #expect(FileManager.default.fileExists(atPath: mark))
    }
}
