import DBusClient
import Foundation
import SystemCalls
import TestSupport
import Testing

@testable import Desktop

@Suite("The choice of an application", .timeLimit(.minutes(1)))
struct ApplicationChooserTests {
    @Test("is the portal's, which gets the file read-only and asks the user")
    func portal() async throws {
        let bus = try await TestBus()
        let address = try #require(BusAddress.session(bus.environment))
        #expect(await !ApplicationChooser.isThere(on: address))
        let portal = try await FakeService(
            address.text, name: "org.freedesktop.portal.Desktop", interface: "org.freedesktop.portal.OpenURI",
            method: "OpenFile", signature: "sha{sv}")
        #expect(await ApplicationChooser.isThere(on: address))
        try await ApplicationChooser.open(bus.folder.file("a.txt", "hello"), on: address)
        #expect(try await portal.calls.first() == ["", "read-only hello", "ask", "true"])
    }

    @Test("is no choice without a portal, for a link, and for a pipe")
    func none() async throws {
        let bus = try await TestBus()
        let address = BusAddress.session(bus.environment)
        let file = bus.folder.file("a.txt", "hello")
        await #expect(throws: BusError.refused("org.freedesktop.DBus.Error.ServiceUnknown")) {
            try await ApplicationChooser.open(file, on: address)
        }
        #expect(await !ApplicationChooser.isThere(on: nil))
        #expect(symlink(file, bus.folder / "link") == 0 && mkfifo(bus.folder / "pipe", 0o600) == 0)
        await #expect(throws: SystemError(ELOOP)) {
            try await ApplicationChooser.open(bus.folder / "link", on: address)
        }
        await #expect(throws: SystemError(EINVAL)) {
            try await ApplicationChooser.open(bus.folder / "pipe", on: address)
        }
    }

    @Test("is there if the bus can start the portal")
    func activatable() async throws {
        let folder = TemporaryFolder()
        mkdir(folder / "services", 0o700)
        folder.file(
            "services/portal.service", "[D-BUS Service]\nName=org.freedesktop.portal.Desktop\nExec=/bin/false\n")
        let bus = try await TestBus(in: folder)
        #expect(await ApplicationChooser.isThere(on: BusAddress.session(bus.environment)))
    }
}
