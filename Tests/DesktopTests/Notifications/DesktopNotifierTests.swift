import DBusClient
import Foundation
import Logging
import TestSupport
import Testing

@testable import Desktop

@Suite("The desktop notifier, with a server of the tests' own", .timeLimit(.minutes(1)))
struct DesktopNotifierTests {
    private let log = RecordingLog.make()

    private func notifier(_ environment: [String: String], timeout: Duration = .seconds(3_600)) -> DesktopNotifier {
        DesktopNotifier(
            environment: environment, burst: 1_000, pace: .zero, timeout: timeout, logger: log.logger,
            surplus: NotificationRequest.rest)
    }

    private func next(_ ticket: NotificationTicket) async -> NotificationEvent? {
        for await event in ticket.events { return event }
        return nil
    }

    @Test("a pressed action is reported, and so is the end")
    func action() async throws {
        let bus = try await TestBus()
        let server = try await FakeServer(bus)
        let notifier = notifier(bus.environment)
        let ticket = notifier.show(.sample("one"))
        let call = try await server.notified()
        #expect(call.summary == "one")
        #expect(call.replaces == 0)
        #expect(call.actions.count == 4)
        #expect([call.actions[1], call.actions[3]] == ["Accept", "Decline"])
        server.press(1, call.key("decline"))
        server.close(1, reason: 2)
        var events: [NotificationEvent] = []
        for await event in ticket.events { events.append(event) }
        #expect(events == [.action("decline"), .closed(.dismissed)])
    }

    @Test("a notification that is closed, or whose notifier is stopped, goes from the desktop")
    func closing() async throws {
        let bus = try await TestBus()
        let server = try await FakeServer(bus)
        let notifier = notifier(bus.environment)
        let ticket = notifier.show(.sample("one"))
        try await server.notified { $0.summary == "one" }
        ticket.close()
        ticket.close()
        #expect(await next(ticket) == .closed(.closed))
        try await server.heard.first { $0 == .close(1) }
        let other = notifier.show(.sample("two"))
        try await server.notified { $0.summary == "two" }
        // The notifier sends a change only after it has the number of the notification.
        other.update(.sample("three"))
        try await server.notified { $0.replaces == 2 }
        await notifier.stop()
        #expect(await next(other) == .closed(.closed))
        try await server.heard.first { $0 == .close(2) }
        await notifier.stop()
    }

    @Test("a change replaces the notification")
    func update() async throws {
        let bus = try await TestBus()
        let server = try await FakeServer(bus)
        let notifier = notifier(bus.environment)
        let ticket = notifier.show(.sample("one"))
        try await server.notified()
        ticket.update(.sample("two"))
        let call = try await server.notified { $0.summary == "two" }
        #expect(call.replaces == 1)
    }

    @Test("without a known bus one line is logged, and nothing else happens")
    func noBus() async throws {
        for environment in [[:], ["DBUS_SESSION_BUS_ADDRESS": "autolaunch:"], ["XDG_RUNTIME_DIR": "relative"]] {
            let log = RecordingLog.make()
            let notifier = DesktopNotifier(
                environment: environment, logger: log.logger, surplus: NotificationRequest.rest)
            let tickets = (0..<20).map { notifier.show(.sample("\($0)")) }
            for ticket in tickets { ticket.close() }
            for ticket in tickets { #expect(await next(ticket) == .closed(.closed)) }
            await notifier.stop()
            #expect(log.states.count == 1)
            #expect(log.states.all.first?.hasPrefix("no session bus is known") == true)
        }
    }

    @Test("a bus that comes later, leaves and returns is used, and wanted notifications are shown again")
    func busComesAndGoes() async throws {
        let folder = TemporaryFolder()
        let notifier = notifier(["XDG_RUNTIME_DIR": folder.path])
        let kept = notifier.show(.sample("kept"))
        let dropped = notifier.show(.sample("dropped"))
        try await log.states.first { $0.hasPrefix("the session bus cannot be reached") }
        let bus = try await TestBus(in: folder)
        let server = try await FakeServer(bus)
        try await server.notified { $0.summary == "kept" }
        try await server.notified { $0.summary == "dropped" }
        await bus.kill()
        try await log.states.first { $0 == "the session bus is gone" }
        dropped.close()
        #expect(await next(dropped) == .closed(.closed))
        let otherBus = try await TestBus(in: folder)
        let other = try await FakeServer(otherBus)
        let call = try await other.notified()
        #expect(call.summary == "kept")
        other.press(1, call.key("accept"))
        #expect(await next(kept) == .action("accept"))
        #expect(other.notifications.map(\.summary) == ["kept"])
    }

    @Test("a server that leaves and returns shows the wanted notifications again, and old ids are invalid")
    func serverComesAndGoes() async throws {
        let bus = try await TestBus()
        let notifier = notifier(bus.environment)
        let first = notifier.show(.sample("first"))
        let second = notifier.show(.sample("second"))
        try await log.states.first { $0 == "no notification server runs" }
        let server = try await FakeServer(bus)
        let old = try await server.notified { $0.summary == "first" }
        try await server.notified { $0.summary == "second" }
        try await server.leave()
        first.close()
        #expect(await next(first) == .closed(.closed))
        let other = try await FakeServer(bus)
        let new = try await other.notified()
        #expect(new.summary == "second")
        // The new server uses the id of the first notification for the second.
        other.press(1, old.key("accept"))
        other.press(1, new.key("decline"))
        #expect(await next(second) == .action("decline"))
    }

    @Test("a server without actions gets plain text; a later one with actions gets the buttons")
    func withoutActions() async throws {
        let bus = try await TestBus()
        let plain = try await FakeServer(bus, FakeServer.Behaviour(capabilities: ["body"]))
        let notifier = notifier(bus.environment)
        var request = NotificationRequest.sample("one", body: "press a button")
        request.bodyWithoutActions = "type a command"
        let ticket = notifier.show(request)
        let text = try await plain.notified()
        #expect(text.actions.isEmpty)
        #expect(text.body == "type a command")
        try await log.states.first { $0 == "notifications are shown, without actions" }
        // It has no buttons to press.
        plain.press(1, "accept-1")
        try await plain.leave()
        let server = try await FakeServer(bus)
        let call = try await server.notified()
        #expect(call.body == "press a button")
        server.press(1, call.key("decline"))
        #expect(await next(ticket) == .action("decline"))
    }

    @Test("a server that never answers delays nothing and gets a bounded number of calls; the next one is used")
    func silent() async throws {
        let bus = try await TestBus()
        let mute = try await FakeServer(bus, FakeServer.Behaviour(notify: { _, _ in .nothing }))
        let notifier = notifier(bus.environment, timeout: .milliseconds(200))
        for number in 0..<200 {
            let ticket = notifier.show(.sample("churn \(number)"))
            ticket.close()
            #expect(await next(ticket) == .closed(.closed))
        }
        let kept = notifier.show(.sample("kept"))
        try await log.states.first { $0 == "the notification server does not answer" || $0.contains("bus") }
        try await mute.leave()
        // On a busy machine the bus may have been given up in between.
        #expect(mute.notifications.count <= NotificationLimits.open + 1)
        let server = try await FakeServer(bus)
        let call = try await server.notified { $0.summary == "kept" }
        server.press(UInt32(server.notifications.count), call.key("accept"))
        #expect(await next(kept) == .action("accept"))
    }

    @Test("a server that does not tell its capabilities gets no notifications")
    func capabilitiesNeverCome() async throws {
        let bus = try await TestBus()
        let mute = try await FakeServer(bus, FakeServer.Behaviour(capabilities: nil))
        let notifier = notifier(bus.environment)
        let ticket = notifier.show(.sample("one"))
        try await mute.heard.first { $0 == .askedForCapabilities }
        ticket.close()
        #expect(await next(ticket) == .closed(.closed))
        await notifier.stop()
        #expect(mute.notifications.isEmpty)
    }

    @Test("a malformed answer ends a notification", arguments: ["text", "zero", "error"])
    func garbage(kind: String) async throws {
        let bus = try await TestBus()
        let server = try await FakeServer(
            bus,
            FakeServer.Behaviour(notify: { number, _ in
                if number > 1 { return .id(7) }
                return kind == "text" ? .text("seven") : kind == "zero" ? .id(0) : .error
            }))
        let notifier = notifier(bus.environment)
        let bad = notifier.show(.sample("bad"))
        #expect(await next(bad) == .closed(.refused))
        let good = notifier.show(.sample("good"))
        let call = try await server.notified { $0.summary == "good" }
        server.press(7, call.key("accept"))
        #expect(await next(good) == .action("accept"))
    }

    @Test("a server that gives two notifications one id is believed about neither")
    func sameID() async throws {
        let bus = try await TestBus()
        let server = try await FakeServer(bus, FakeServer.Behaviour(notify: { _, _ in .id(7) }))
        let notifier = notifier(bus.environment)
        let tickets = [notifier.show(.sample("one")), notifier.show(.sample("two"))]
        for ticket in tickets { #expect(await next(ticket) == .closed(.refused)) }
        try await server.heard.first { $0 == .close(7) }
    }

    @Test("signals of others on the bus, of unknown ids and of strange shapes mean nothing")
    func forgery() async throws {
        let bus = try await TestBus()
        let server = try await FakeServer(bus)
        let forger = try await FakeServer(bus, FakeServer.Behaviour(takesName: false))
        let notifier = notifier(bus.environment)
        let ticket = notifier.show(.sample("one"))
        let call = try await server.notified()
        // The notifier is one of the first few on this bus.
        for number in 0..<10 { forger.press(1, call.key("accept"), to: ":1.\(number)") }
        forger.press(1, call.key("accept"))
        server.press(99, call.key("accept"))
        server.press(1, "accept")
        server.press(1, "")
        server.signal("ActionInvoked") { $0.string("1") }
        server.signal("NotificationClosed") { $0.uint32(1) }
        server.signal("Nonsense") { _ in }
        // The forger's come first: the bus has heard of them before the server leaves.
        try await forger.leave()
        server.press(1, call.key("decline"))
        #expect(await next(ticket) == .action("decline"))
    }

    @Test("nothing on the bus is started")
    func noActivation() async throws {
        let bus = try await TestBus()
        let mark = bus.folder / "started"
        bus.folder.file(
            "services/org.freedesktop.Notifications.service",
            "[D-BUS Service]\nName=org.freedesktop.Notifications\nExec=/usr/bin/touch \(mark)\n")
        let notifier = notifier(bus.environment)
        let ticket = notifier.show(.sample("one"))
        try await log.states.first { $0 == "no notification server runs" }
        ticket.close()
        #expect(await next(ticket) == .closed(.closed))
        await notifier.stop()
        #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test("no more than eight are shown at once, one speaks for the rest, and places that are left are filled")
    func flood() async throws {
        let bus = try await TestBus()
        let server = try await FakeServer(bus)
        let notifier = notifier(bus.environment)
        let tickets = (0..<500).map { notifier.show(.sample("offer \($0)")) }
        try await server.notified { $0.summary == "and 492 more" }
        #expect(server.notifications.count { $0.summary.hasPrefix("offer") } == 8)
        for ticket in tickets[..<490] { ticket.close() }
        try await server.notified { $0.summary == "offer 490" }
        try await server.notified { $0.summary == "and 2 more" }
        for ticket in tickets[490...] { ticket.close() }
        await notifier.stop()
        // Each that was shown is taken away again, the one for the rest too. The number of its call is its id.
        for (index, notification) in server.notifications.enumerated() where notification.replaces == 0 {
            try await server.heard.first { $0 == .close(UInt32(index + 1)) }
        }
    }

    @Test(
        "hostile text reaches the server in visible characters, with its markup escaped if the server reads markup",
        arguments: [true, false])
    func hostileText(hasMarkup: Bool) async throws {
        let bus = try await TestBus()
        let capabilities = ["actions", "body"] + (hasMarkup ? ["body-markup"] : [])
        let server = try await FakeServer(bus, FakeServer.Behaviour(capabilities: capabilities))
        let notifier = notifier(bus.environment)
        let hostile = "<img src='file:///x'>&amp; \u{1B}[31m \u{202E}gpj.exe\0\r"
        _ = notifier.show(.sample("line\nbreak \(hostile)", body: "one\ntwo \(hostile)"))
        let call = try await server.notified()
        let visible = "\\u{1B}[31m \\u{202E}gpj.exe\\u{0}\\r"
        #expect(call.summary == "line\\nbreak <img src='file:///x'>&amp; \(visible)")
        #expect(
            call.body
                == (hasMarkup
                    ? "one\ntwo &lt;img src=&#39;file:///x&#39;&gt;&amp;amp; \(visible)"
                    : "one\ntwo <img src='file:///x'>&amp; \(visible)"))
    }

    @Test("a bus that accepts connections and never answers is given up, and delays nothing")
    func silentBus() async throws {
        let folder = TemporaryFolder()
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: (folder / "bus").utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        #expect(isBound && listen(listener, 8) == 0)
        let notifier = notifier(["XDG_RUNTIME_DIR": folder.path], timeout: .milliseconds(1))
        let ticket = notifier.show(.sample("one"))
        try await log.states.first { $0 == "the session bus does not answer" }
        ticket.close()
        #expect(await next(ticket) == .closed(.closed))
        await notifier.stop()
    }
}
