import DBusClient
import Foundation
import TestSupport
import Testing

@testable import Desktop

@Suite("The file manager", .timeLimit(.minutes(1)))
struct FileManagerWindowTests {
    @Test("shows items by their addresses, whatever their names are")
    func shown() async throws {
        let bus = try await TestBus()
        let address = try #require(BusAddress.session(bus.environment))
        let manager = try await FakeService(
            address.text, name: "org.freedesktop.FileManager1", interface: "org.freedesktop.FileManager1",
            method: "ShowItems", signature: "ass")
        try await FileManagerWindow.show(["/inbox/a b.pdf", "/inbox/%41?#\u{E4}"], on: address)
        #expect(try await manager.calls.first() == ["file:///inbox/a%20b.pdf", "file:///inbox/%2541%3F%23%C3%A4", ""])
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
            "[D-BUS Service]\nName=org.freedesktop.FileManager1\nExec=/bin/sh -c 'touch \(mark); exit 1'\n")
        await #expect(throws: BusError.self) { try await FileManagerWindow.show(["/inbox/a"], on: address) }
        #expect(FileManager.default.fileExists(atPath: mark))
    }
}
