import Testing

@testable import DBusClient

@Suite("Where the buses are")
struct BusAddressTests {
    @Test("the environment's address goes before the runtime folder's socket")
    func order() throws {
        let both = ["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/tmp/x,guid=0", "XDG_RUNTIME_DIR": "/run/user/1"]
        #expect(BusAddress.session(both)?.text == "unix:abstract=/tmp/x,guid=0")
        #expect(BusAddress.session(both)?.sockets == [])
        let folder = try #require(BusAddress.session(["XDG_RUNTIME_DIR": "/run/user/1 2"]))
        #expect(folder.text == "unix:path=/run/user/1%202/bus")
        #expect(folder.sockets == ["/run/user/1 2/bus"])
        #expect(
            BusAddress.session(["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "/r"])?.sockets == ["/r/bus"])
    }

    @Test("transports that start programs or ask the network are left out")
    func transports() {
        let address = "autolaunch:;unixexec:path=/bin/sh,argv1=-c;tcp:host=x,port=1;unix:path=/a%20b;unix:runtime=yes"
        let found = BusAddress.session(["DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": "/r"])
        #expect(found?.text == "unix:path=/a%20b;unix:runtime=yes")
        #expect(found?.sockets == ["/a b", "/r/bus"])
    }

    @Test(
        "what is not an address of a bus is none",
        arguments: [
            "autolaunch:", "tcp:host=x", "nonsense", ";;;", "unixexec:path=/bin/true", "x\0unix:path=/a",
            String(repeating: "unix:path=/a;", count: 1_000),
        ])
    func none(given: String) {
        #expect(BusAddress.session(["DBUS_SESSION_BUS_ADDRESS": given]) == nil)
    }

    @Test(
        "an address that libdbus cannot read is a failure, not the end",
        arguments: ["unix:", "unix:path", "unix:path=%zz", "unix:path=/no/such/bus", "unix:;unix:"])
    func unreadable(given: String) throws {
        let address = try #require(BusAddress.session(["DBUS_SESSION_BUS_ADDRESS": given]))
        #expect(throws: BusError.self) { _ = try BusConnection.open(address, limits: BusLimits(messageBytes: 1_024)) }
    }

    @Test("the system bus has a usual address, and one that starts programs is not used")
    func systemAddress() {
        let usual = "unix:path=/run/dbus/system_bus_socket"
        #expect(BusAddress.system([:]).text == usual)
        #expect(BusAddress.system(["DBUS_SYSTEM_BUS_ADDRESS": "unixexec:path=/bin/sh"]).text == usual)
        #expect(BusAddress.system(["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/x"]).text == "unix:path=/x")
    }
}
