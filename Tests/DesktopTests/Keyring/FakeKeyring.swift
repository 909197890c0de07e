import DBusClient
import TestSupport
import Testing

/// A Secret Service with one locked item, whose question has a given answer.
final class FakeKeyring: Sendable {
    let address: BusAddress
    private let bus: TestBus
    private let service: TestProcess

    /// The names of the calls.
    var heard: Recorder<String> { service.lines }

    /// - Parameter kind: `answers`, `refuses` or `waits` with the question; `hangs` or `babbles` at the search.
    init(_ kind: String) async throws {
        bus = try await TestBus()
        address = try #require(BusAddress.session(bus.environment))
        service = try TestProcess("/usr/bin/python3", ["-uc", Self.script, kind], environment: bus.environment)
        try await service.lines.first { $0 == "ready" }
    }

    func end() async {
        await service.kill()
        await bus.kill()
    }

    private static let script = """
        import sys, dbus, dbus.service
        from dbus.mainloop.glib import DBusGMainLoop
        from gi.repository import GLib
        kind = sys.argv[1]
        SERVICE, ITEM, PROMPT = ("org.freedesktop.Secret." + name for name in ("Service", "Item", "Prompt"))
        ROOT = "/org/freedesktop/secrets"
        is_open = False

        class Service(dbus.service.Object):
            @dbus.service.method(SERVICE, "a{ss}", None, async_callbacks=("reply", "fail"))
            def SearchItems(self, attributes, reply, fail):
                print("search")
                if kind == "hangs": return
                if kind == "babbles": return reply(7)
                item = dbus.Array([dbus.ObjectPath(ROOT + "/item")], "o")
                none = dbus.Array([], "o")
                reply(*((item, none) if is_open else (none, item)))
            @dbus.service.method(SERVICE, "s", "o")
            def ReadAlias(self, name): return "/"
            @dbus.service.method(SERVICE, "ao", "aoo")
            def Unlock(self, paths): return dbus.Array([], "o"), ROOT + "/prompt"
            @dbus.service.method(SERVICE, "sv", "vo")
            def OpenSession(self, algorithm, argument):
                if algorithm != "plain": raise dbus.DBusException("no", name="org.freedesktop.DBus.Error.NotSupported")
                return "", ROOT + "/session"

        class Item(dbus.service.Object):
            @dbus.service.method(ITEM, "o", "(oayays)")
            def GetSecret(self, session):
                if not is_open: raise dbus.DBusException("no", name="org.freedesktop.Secret.Error.IsLocked")
                return session, dbus.ByteArray(b""), dbus.ByteArray(b"fake"), "text/plain"

        class Prompt(dbus.service.Object):
            @dbus.service.method(PROMPT, "s", "")
            def Prompt(self, window):
                global is_open
                print("prompt")
                is_open = kind == "answers"
                if kind != "waits": GLib.idle_add(lambda: self.Completed(kind == "refuses", ""))
            @dbus.service.method(PROMPT, "", "")
            def Dismiss(self): print("dismiss")
            @dbus.service.signal(PROMPT, "bv")
            def Completed(self, is_dismissed, result): pass

        bus = dbus.SessionBus(mainloop=DBusGMainLoop())
        name = dbus.service.BusName("org.freedesktop.secrets", bus)
        objects = [Service(bus, ROOT), Item(bus, ROOT + "/item"), Prompt(bus, ROOT + "/prompt")]
        print("ready")
        GLib.MainLoop().run()
        """
}
