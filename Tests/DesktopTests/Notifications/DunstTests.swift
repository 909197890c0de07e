import Foundation
import Sharing
import TestSupport
import Testing

@testable import Desktop

/// dunst, a real notification server, on an invisible display.
private final class Dunst: Sendable {
    private let bus: TestBus
    private let display: TestProcess
    private let daemon: TestProcess
    let environment: [String: String]

    init(on bus: TestBus) async throws {
        self.bus = bus
        // Stands for the user who chooses from dunst's menu: it chooses the label that is in a file.
        let chooser = bus.folder.program(
            "choose", "#!/bin/sh\nexec grep -F -m 1 \"#$(cat '\(bus.folder / "choice")') \"\n")
        let settings = bus.folder.file(
            "dunstrc",
            "[global]\n  dmenu = \(chooser)\n  notification_limit = 20\n  history_length = 100\n  format = \"%s\\n%b\"\n"
        )
        display = try TestProcess(
            "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"])
        let number = try await display.lines.first { !$0.isEmpty && $0.allSatisfy(\.isNumber) }
        environment = bus.environment.merging(
            ["DISPLAY": ":\(number)", "HOME": bus.folder.path, "XDG_CACHE_HOME": bus.folder.path]) { $1 }
        daemon = try TestProcess("/usr/bin/dunst", ["-conf", settings], environment: environment)
    }

    func end() async {
        await daemon.kill()
        await display.kill()
    }

    func control(_ words: String...) async throws -> String {
        try await TestProcess("/usr/bin/dunstctl", words, environment: environment).end().joined(separator: "\n")
    }

    /// Asks until as many notifications are on the display: dunst does not report that it has drawn one.
    func displays(_ count: Int) async throws {
        while try await control("count", "displayed") != "\(count)" { try Task.checkCancellation() }
    }

    /// Chooses an action of the notification at the top.
    func choose(_ label: String) async throws {
        bus.folder.file("choice", label)
        _ = try await control("context")
    }

    /// The notifications that it has shown: the body of each by its summary.
    func history() async throws -> [String: String] {
        let answer = try JSONSerialization.jsonObject(with: Data(try await control("history").utf8)) as? [String: Any]
        let entries = (answer?["data"] as? [[[String: Any]]])?.first ?? []
        var bodies: [String: String] = [:]
        for entry in entries {
            let text = { (key: String) in (entry[key] as? [String: Any])?["data"] as? String ?? "" }
            bodies[text("summary")] = text("body")
        }
        return bodies
    }
}

@Suite("Notifications of offers, on dunst", .timeLimit(.minutes(1)))
struct DunstTests {
    private let log = RecordingLog.make()
    private let queue = ConsentQueue(rule: .ask)

    /// Shows offers on dunst while `body` runs.
    private func withDunst(_ body: (Dunst) async throws -> Void) async throws {
        let bus = try await TestBus()
        let dunst = try await Dunst(on: bus)
        let notifier = DesktopNotifier(
            environment: bus.environment, burst: 100, pace: .zero, logger: log.logger, surplus: OfferNotice.surplus)
        let offers = Task { [queue] in
            await OfferNotifications(notifier: notifier, offers: queue, sender: { .stranger($1, $0) }).run()
        }
        try await body(dunst)
        offers.cancel()
        await offers.value
        await notifier.stop()
        #expect(queue.offers.isEmpty)
        await dunst.end()
    }

    private func ask(_ offer: Offer = .sample(items: 2), from peer: UInt8 = 1) -> Task<[ItemVerdict], Never> {
        Task { [queue] in await queue.consent(to: offer, from: .sample(peer), freeRoom: 1_000_000) }
    }

    @Test("Accept on the desktop accepts the offer, and the notification goes")
    func accept() async throws {
        try await withDunst { dunst in
            let question = ask()
            try await dunst.displays(1)
            try await dunst.choose("Accept")
            #expect(await question.value == [.accepted, .accepted])
            try await dunst.displays(0)
        }
    }

    @Test("Decline on the desktop declines the offer, and the notification goes")
    func decline() async throws {
        try await withDunst { dunst in
            let question = ask()
            try await dunst.displays(1)
            try await dunst.choose("Decline")
            #expect(await question.value.map(\.answer) == [.declined, .declined])
            try await dunst.displays(0)
        }
    }

    @Test("an offer that is answered elsewhere or withdrawn leaves the desktop; a dismissed one still waits")
    func elsewhere() async throws {
        try await withDunst { dunst in
            let (first, second, third) = (ask(from: 1), ask(from: 2), ask(from: 3))
            try await dunst.displays(3)
            queue.answer(1, accept: true)
            try await dunst.displays(2)
            second.cancel()
            first.cancel()
            third.cancel()
            try await dunst.displays(0)
            let fourth = ask()
            try await dunst.displays(1)
            _ = try await dunst.control("close-all")
            try await dunst.displays(0)
            #expect(queue.offers.count == 1)
            fourth.cancel()
            _ = await fourth.value
        }
    }

    @Test("eight offers are shown, one notification speaks for the rest, and answers let others up")
    func flood() async throws {
        try await withDunst { dunst in
            let questions = (0..<30).map { ask(from: UInt8($0)) }
            try await dunst.displays(9)
            for number in 1...22 { queue.answer(number, accept: false) }
            try await dunst.displays(8)
            for question in questions { question.cancel() }
            try await dunst.displays(0)
        }
    }

    @Test("markup in names is shown, not read")
    func hostileNames() async throws {
        try await withDunst { dunst in
            var offer = Offer.sample()
            offer.senderName = "<b>Ann</b> & <img src=\"/etc/passwd\">"
            let question = ask(offer)
            try await dunst.displays(1)
            question.cancel()
            try await dunst.displays(0)
            let body = try #require(try await dunst.history()["Accept 1 item, 5 bytes?"])
            #expect(body.contains("&quot;&lt;b&gt;Ann&lt;/b&gt; &amp; &lt;img src=_/etc/passwd_&gt;&quot;"))
        }
    }

    @Test("waiting offers are shown again by a restarted dunst")
    func restart() async throws {
        let bus = try await TestBus()
        let first = try await Dunst(on: bus)
        let notifier = DesktopNotifier(environment: bus.environment, logger: log.logger, surplus: OfferNotice.surplus)
        let offers = Task { [queue] in
            await OfferNotifications(notifier: notifier, offers: queue, sender: { .stranger($1, $0) }).run()
        }
        let question = ask()
        try await first.displays(1)
        await first.end()
        try await log.states.first { $0 == "no notification server runs" }
        let second = try await Dunst(on: bus)
        try await second.displays(1)
        try await second.choose("Accept")
        #expect(await question.value == [.accepted, .accepted])
        offers.cancel()
        await offers.value
        await notifier.stop()
        await second.end()
    }
}
