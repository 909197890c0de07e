import Contacts
import Control
import Endpoints
package import Lines
import QRCodes
import Receiving
import Sharing
import Synchronization

extension Waft {
    /// The pages for guests who have only a browser.
    package var pages: Pages { Pages(waft: self) }
}

/// The pages for guests. A receiver serves them: the one that runs, or one that runs for the page.
package struct Pages: Sendable {
    package let waft: Waft

    /// Items of one page.
    package static let maximumItems = 1_000

    /// The lines of a QR code of an address, light on a dark ground; nil for an address that is too long.
    package static func code(of address: String) -> [String]? { QRCode(address)?.lines() }

    /// An event of a page.
    package enum Event: Sendable {
        case guest(GuestLine)
        /// It has another address.
        case moved(PageProgress)
        /// An event of the receiver that a guest has caused.
        case receiver(ControlEvent)
    }

    /// Opens a page while `body` runs, in the receiver that runs or in one of its own.
    /// - Throws: `WaftError`, and what `body` throws.
    package func withPage(
        _ opening: PageOpening, _ body: @escaping @Sendable (PageProgress) async throws -> Void
    ) async throws {
        if let page = try await open(opening) { return try await body(page) }
        let receiver = waft.makeReceiver(visibility: .off) { _ in }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await receiver.receive()
                } catch let failure as ReceiverError {
                    throw WaftError(failure)
                }
            }
            group.addTask { try await body(try await openAtOwnReceiver(opening)) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Opens a page at the receiver that runs, until `close`, or until it is not followed any more.
    /// - Returns: nil if no receiver runs.
    package func open(_ opening: PageOpening) async throws(WaftError) -> PageProgress? {
        switch try await waft.receiver.askIfRunning(.page(.open(opening)), timeout: .seconds(30)) {
        case nil: return nil
        case .page(let page): return page
        case .refused(let reason): throw WaftError(.usage, reason)
        case .unknown(let reason): throw WaftError(.inputMissing, reason)
        default: throw WaftError(.unexpected, "the receiver gave no answer")
        }
    }

    /// Between two looks for the control socket of the receiver that is starting.
    private static let startingPause: Duration = .milliseconds(20)

    private func openAtOwnReceiver(_ opening: PageOpening) async throws -> PageProgress {
        while true {
            if let page = try await open(opening) { return page }
            try await Task.sleep(for: Self.startingPause)
        }
    }

    /// Shows everything that happens on a page until it is closed.
    /// - Returns: why it was closed; nil for an unknown reason.
    package func follow(
        _ page: PageProgress, _ see: @escaping @Sendable (Event) -> Void
    ) async throws -> PageProgress.End? {
        try await withThrowingTaskGroup(of: PageProgress.End?.self) { group in
            let offers = GuestOffers()
            group.addTask {
                try await waft.receiver.watch { event in
                    if offers.hasSeen(event) { see(.receiver(event)) }
                }
                return .receiver
            }
            group.addTask { try await steps(page, see) }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Sees the actions of guests, and each other address, until the page is closed.
    private func steps(
        _ page: PageProgress, _ see: @Sendable (Event) -> Void
    ) async throws -> PageProgress.End? {
        var (seen, address) = (page.revision, page.authorities.first)
        while true {
            let reply: ControlReply
            do {
                reply = try await waft.receiver.ask(.page(.follow(ticket: page.ticket, seen: seen)))
            } catch {
                try Task.checkCancellation()
                return .receiver
            }
            guard case .page(let now) = reply else { return .receiver }
            if now.revision != seen { for step in now.steps { see(.guest(step)) } }
            seen = now.revision
            if now.phase == .open, now.authorities.first != address {
                address = now.authorities.first
                see(.moved(now))
            }
            if now.phase == .closed { return now.end ?? .receiver }
        }
    }

    /// How long the receiver may take to close the page.
    private static let farewell: Duration = .seconds(3)

    /// Closes a page. One that the settings keep open stays.
    package func close(_ page: PageProgress) async {
        _ = try? await waft.receiver.ask(.page(.close(ticket: page.ticket)))
        guard !page.isStanding else { return }
        let end = ContinuousClock.now + Self.farewell
        while end > .now,
            case .page(let now)? = try? await waft.receiver.ask(.page(.follow(ticket: page.ticket, seen: 0))),
            now.phase != .closed
        { try? await Task.sleep(for: .milliseconds(50)) }
    }
}

extension PageProgress {
    /// Whether no other machine can reach its addresses.
    package var isLocal: Bool { PageAddress.areLocal(authorities) }
}

/// The offers that came by the page: which events are about them.
private final class GuestOffers: Sendable {
    private let transfers = Mutex<Set<String>>([])

    func hasSeen(_ event: ControlEvent) -> Bool {
        switch event {
        case .offer(let offer): note(offer.via, offer.transfer)
        case .answered(let answer): note(answer.via, answer.transfer)
        case .arrival(let arrival) where !arrival.hasLeft: note(arrival.via, arrival.transfer)
        case .progress(let progress): transfers.withLock { $0.contains(progress.transfer) }
        case .ended(let end): transfers.withLock { $0.remove(end.transfer) != nil }
        case .ready, .arrival, .visibility, .settings, .contacts, .protection: false
        }
    }

    /// - Returns: whether a transfer is that of a guest.
    private func note(_ dialect: String?, _ transfer: String) -> Bool {
        guard let dialect, DialectTable.known[dialect].isByInvitation else { return false }
        transfers.withLock { _ = $0.insert(transfer) }
        return true
    }
}
