import Control
import Endpoints
import Lines
import Settings
import Sharing
import TestSupport
import Testing

@testable import Receiving

/// The desk with an endpoint that opens each page.
@Suite("The page for guests, as the user wants it")
struct GuestPagesTests {
    private static let place = PageAddress(
        authorities: ["10.0.0.1:7443"], path: "/g/secret", pin: "123456", fingerprint: nil)

    /// Runs an endpoint beside `body`: it opens each page that the desk wants.
    /// - Parameter fault: why it opens none.
    private func withDesk(
        _ settings: Settings = Settings(hostName: "kitchen"), fault: String? = nil,
        _ body: @Sendable (GuestPages, LiveSettings) async throws -> Void
    ) async throws {
        let live = LiveSettings(settings)
        let desk = GuestPages(live)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    await desk.wait { $0 != nil }
                    guard let page = desk.page else { continue }
                    if fault == nil {
                        desk.opened(page, at: Self.place)
                        await desk.wait { $0?.number != page.number }
                    }
                    desk.closed(page, fault: fault)
                    await desk.wait { $0?.number != page.number }
                }
            }
            try await body(desk, live)
            group.cancelAll()
        }
    }

    private func phase(_ phase: PageProgress.Phase, of opened: PageProgress, on desk: GuestPages) async throws
        -> PageProgress
    {
        var (now, seen) = (opened, opened.revision)
        while now.phase != phase {
            now = try #require(await desk.follow(opened.ticket, seen: seen))
            seen = now.revision
        }
        return now
    }

    @Test("a page is open once the endpoint says so, and closed when its command closes it")
    func opening() async throws {
        try await withDesk { desk, _ in
            let opened = try await desk.open(PageOpening())
            #expect(opened.phase == .open && opened.path == "/g/secret" && opened.pin == "123456")
            #expect(!opened.isStanding && opened.secondsLeft == nil)
            desk.close(opened.ticket)
            #expect(try await phase(.closed, of: opened, on: desk).end == .command)
            #expect(desk.page == nil)
        }
    }

    @Test("there is one page at a time, and the next one can be opened when it is closed")
    func single() async throws {
        try await withDesk { desk, _ in
            let first = try await desk.open(PageOpening())
            await #expect(throws: GuestPages.Refusal.self) { _ = try await desk.open(PageOpening()) }
            desk.close(first.ticket)
            let second = try await desk.open(PageOpening())
            #expect(second.ticket != first.ticket)
            #expect(await desk.follow(first.ticket, seen: 0) == nil)
        }
    }

    @Test("a page ends when its time is over")
    func time() async throws {
        try await withDesk { desk, _ in
            var wanted = PageOpening()
            wanted.seconds = 3
            let opened = try await desk.open(wanted)
            #expect((1...3).contains(try #require(opened.secondsLeft)))
            #expect(try await phase(.closed, of: opened, on: desk).end == .time)
        }
    }

    @Test("a time that is no time, or has no end, ends nothing else", arguments: [1e300, -1, .infinity, .nan])
    func strangeTime(_ seconds: Double) async throws {
        try await withDesk { desk, _ in
            var wanted = PageOpening()
            wanted.seconds = seconds
            let opened = try await desk.open(wanted)
            #expect((1...400_000_000).contains(try #require(opened.secondsLeft)))
        }
    }

    @Test("the steps of guests come to the command once, in order")
    func steps() async throws {
        try await withDesk { desk, _ in
            let opened = try await desk.open(PageOpening())
            let page = try #require(desk.page)
            desk.saw(.entered(address: "10.0.0.2", browser: "Firefox on Android"), on: page)
            desk.saw(.fetched(address: "10.0.0.2", name: "a.jpg", isWhole: true), on: page)
            let first = try #require(await desk.follow(opened.ticket, seen: opened.revision))
            #expect(first.steps.map(\.kind) == [.guest, .fetched])
            desk.saw(.wrongPIN(address: "10.0.0.3"), on: page)
            let second = try #require(await desk.follow(opened.ticket, seen: first.revision))
            #expect(second.steps.map(\.kind) == [.wrongPin])
            for _ in 0..<1_000 { desk.saw(.wrongPIN(address: "10.0.0.3"), on: page) }
            let third = try #require(await desk.follow(opened.ticket, seen: second.revision))
            #expect(third.steps.count == PageProgress.maximumSteps)
        }
    }

    @Test("an address that comes later comes to the command")
    func address() async throws {
        try await withDesk { desk, _ in
            let opened = try await desk.open(PageOpening())
            let page = try #require(desk.page)
            desk.opened(
                page, at: PageAddress(authorities: ["10.0.0.2:7443"], path: "/g/secret", pin: nil, fingerprint: nil))
            let moved = try #require(await desk.follow(opened.ticket, seen: opened.revision))
            #expect(moved.authorities == ["10.0.0.2:7443"] && moved.phase == .open)
        }
    }

    @Test("a page whose one guest is through is closed")
    func once() async throws {
        try await withDesk { desk, _ in
            let opened = try await desk.open(PageOpening())
            desk.finished(try #require(desk.page))
            #expect(try await phase(.closed, of: opened, on: desk).end == .guest)
        }
    }

    @Test("the reason why a page cannot be opened is told")
    func fault() async throws {
        try await withDesk(fault: "no certificate") { desk, _ in
            await #expect {
                _ = try await desk.open(PageOpening())
            } throws: {
                ($0 as? GuestPages.Refusal)?.line == "no certificate"
            }
        }
    }

    @Test("an item that is not there is told, and no page is opened")
    func missing() async throws {
        try await withDesk { desk, _ in
            var wanted = PageOpening()
            wanted.items = ["/nowhere/at/all"]
            await #expect(throws: SourceError.self) { _ = try await desk.open(wanted) }
            #expect(desk.page == nil)
        }
    }

    @Test("the settings keep a page open; a command sees it, can put another before it, and cannot close it")
    func standing() async throws {
        var enabled = Settings(hostName: "kitchen")
        enabled.web.isEnabled = true
        let settings = enabled
        try await withDesk(settings) { desk, live in
            let standing = try await desk.open(PageOpening())
            #expect(standing.isStanding)
            desk.close(standing.ticket)
            #expect(desk.page?.number == standing.ticket)
            var wanted = PageOpening()
            wanted.isOnce = true
            let own = try await desk.open(wanted)
            #expect(!own.isStanding && desk.page?.number == own.ticket)
            desk.close(own.ticket)
            #expect(desk.page?.number == standing.ticket)
            #expect(try await desk.open(PageOpening()).ticket == standing.ticket)
            var other = settings
            other.web.port = 7_444
            live.use(other)
            desk.lookAgain()
            #expect(try await desk.open(PageOpening()).ticket != standing.ticket)
            live.use(Settings(hostName: "kitchen"))
            desk.lookAgain()
            #expect(desk.page == nil)
        }
    }

    @Test("the page of the settings that could not be opened is tried again when the settings are read again")
    func failedPage() async throws {
        var settings = Settings(hostName: "kitchen")
        settings.web.isEnabled = true
        let desk = GuestPages(LiveSettings(settings))
        let failed = try #require(desk.page)
        desk.closed(failed, fault: "no certificate")
        #expect(desk.page?.number == failed.number)
        desk.lookAgain()
        let next = try #require(desk.page)
        #expect(next.number != failed.number)
        desk.opened(next, at: Self.place)
        desk.lookAgain()
        #expect(desk.page?.number == next.number)
    }
}
