import Control
import Lines
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Operations

@Suite("Pages for guests as operations", .timeLimit(.minutes(1)))
struct PagesTests {
    private static let page: PageProgress = {
        var page = PageProgress(ticket: 4, isPlain: false, takes: true, items: ["a.jpg"], isStanding: false)
        (page.phase, page.authorities, page.path) = (.open, ["10.0.0.1:7443"], "/g/s")
        return page
    }()

    private static func next(_ revision: Int, _ change: (inout PageProgress) -> Void) -> PageProgress {
        var page = page
        page.revision = revision
        change(&page)
        return page
    }

    @Test("a page is followed from its first guest, over another address, to its end")
    func follow() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let pages = kitchen.waft.pages
        let course = [
            Self.next(1) { $0.steps = [GuestLine(.guest, address: "10.0.0.2")] },
            Self.next(2) { $0.authorities = ["10.0.0.9:7443"] },
            Self.next(3) { ($0.phase, $0.end) = (.closed, .guest) },
        ]
        let seen = Recorder<String>()
        let end = Mutex<PageProgress.End?>(nil)
        try await kitchen.withReceiver { request in
            switch request {
            case .page(.open): .page(Self.page)
            case .page(.follow(ticket: 4, let seen)): .page(course[min(seen, 2)])
            default: .done
            }
        } _: {
            try await pages.withPage(PageOpening()) { page in
                let over = try await pages.follow(page) { event in
                    switch event {
                    case .guest(let line): seen.record(line.event)
                    case .moved(let page): seen.record(page.addresses[0])
                    case .receiver: break
                    }
                }
                end.withLock { $0 = over }
            }
        }
        #expect(seen.all == ["guest", "https://10.0.0.9:7443/"] && end.withLock { $0 } == .guest)
    }

    @Test(
        "what a receiver refuses about a page is a failure with its words",
        arguments: [
            (.refused("another page is open"), .usage), (.unknown("there is no file a"), .inputMissing),
            (.done, .unexpected),
        ] as [(ControlReply, WaftExit)])
    func refusals(reply: ControlReply, code: WaftExit) async throws {
        let kitchen = try Kitchen(jobs: 0)
        let pages = kitchen.waft.pages
        try await kitchen.withReceiver { _ in
            reply
        } _: {
            do {
                try await pages.withPage(PageOpening()) { _ in Issue.record("a page is open") }
            } catch let error as WaftError {
                #expect(error.code == code)
            }
        }
    }

    @Test("closing waits until the receiver has closed the page, and asks nothing more about one that stays")
    func closing() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let pages = kitchen.waft.pages
        let asked = Recorder<ControlRequest>()
        try await kitchen.withReceiver { request in
            asked.record(request)
            return .page(Self.next(2) { $0.phase = asked.count < 3 ? .closing : .closed })
        } _: {
            await pages.close(Self.page)
            #expect(
                asked.all == [.page(.close(ticket: 4))] + Array(repeating: .page(.follow(ticket: 4, seen: 0)), count: 2)
            )
            var standing = Self.page
            standing.isStanding = true
            await pages.close(standing)
            #expect(asked.count == 4)
        }
    }

    @Test("the line of a page has no address with a secret where guests type the PIN, and none without an address")
    func lines() {
        #expect(PageLine(Self.page, byPIN: false)?.url == "https://10.0.0.1:7443/g/s")
        #expect(PageLine(Self.page, byPIN: true)?.url == nil)
        #expect(PageLine(Self.page, byPIN: true)?.address == "https://10.0.0.1:7443/")
        #expect(PageLine(Self.next(1) { $0.authorities = [] }, byPIN: false) == nil)
        #expect(Self.next(1) { $0.authorities = ["127.0.0.1:7443"] }.isLocal && !Self.page.isLocal)
    }
}
