import ArgumentParser
import Contacts
import Control
import Endpoints
import Lines
import Receiving
import Sharing
import Synchronization

/// Opens a page for guests in a receiver, follows it, asks about offers at the terminal, and closes it.
struct PageHost: Sendable {
    /// Items of one page.
    static let maximumItems = 1_000

    let opening: PageOpening
    let rendering: PageRendering

    /// - Throws: `CommandError`; `notRunning` if the receiver ends first.
    func run() async throws {
        let context = try CommandContext()
        if let page = try await open() { return try await follow(page) }
        // No receiver runs: this command is one.
        let receiver = ReceiverStart.receiver(context, visibility: .off, logger: context.logger("waft")) { _ in }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await receiver.receive()
                } catch let failure as ReceiverError {
                    throw ReceiverStart.failure(failure)
                }
            }
            group.addTask { try await follow(try await openAtOwnReceiver()) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// - Returns: nil if no receiver runs.
    private func open() async throws(CommandError) -> PageProgress? {
        guard let reply = try await Daemon.askIfRunning(.page(.open(opening)), timeout: .seconds(30)) else {
            return nil
        }
        switch reply {
        case .page(let page): return page
        case .refused(let reason): throw CommandError(.usage, TerminalText.escaped(reason, limit: 1_000))
        case .unknown(let reason): throw CommandError(.inputMissing, TerminalText.escaped(reason, limit: 1_000))
        default: throw CommandError(.unexpected, "the receiver gave no answer")
        }
    }

    /// Between two looks for the control socket of the receiver that is starting.
    private static let startingPause: Duration = .milliseconds(20)

    private func openAtOwnReceiver() async throws -> PageProgress {
        while true {
            if let page = try await open() { return page }
            try await Task.sleep(for: Self.startingPause)
        }
    }

    // MARK: Following

    private func follow(_ page: PageProgress) async throws {
        let end = Cancellation()
        let reason = Mutex<PageProgress.End?>(nil)
        do {
            try await Interruption.watching(end, goodbye: .zero) {
                // Signals are watched from here on.
                rendering.opened(page)
                let over = try await watch(page)
                reason.withLock { $0 = over }
            }
        } catch is CancellationError {
            // Handled below.
        } catch {
            guard end.isRequested else { throw error }
        }
        if end.isRequested {
            // The cancelled task is another one, so these requests still reach the receiver.
            _ = try? await Daemon.ask(.page(.close(ticket: page.ticket)))
            if !page.isStanding { await waitForEnd(page) }
            return rendering.closed(.interrupted, stays: page.isStanding)
        }
        switch reason.withLock({ $0 }) {
        case .time: rendering.closed(.time)
        case .guest: rendering.closed(.guest)
        case .command, .receiver, nil:
            rendering.closed(.receiver)
            throw WaftExit.notRunning.code
        }
    }

    /// Shows everything that happens on the page until it is closed.
    private func watch(_ page: PageProgress) async throws -> PageProgress.End? {
        try await withThrowingTaskGroup(of: PageProgress.End?.self) { group in
            let (questions, asking) = AsyncStream<ConsentPrompt.Event>.makeStream()
            let offers = GuestOffers()
            group.addTask {
                try await Daemon.watch { event in
                    guard offers.hasSeen(event) else { return }
                    rendering.show(event)
                    switch event {
                    case .offer(let offer): asking.yield(.waiting(offer))
                    case .answered(let answer):
                        if let number = answer.offer { asking.yield(.settled(number, wasAnswered: !answer.isExpired)) }
                    default: break
                    }
                }
                return .receiver
            }
            group.addTask { try await steps(page) }
            if page.takes, rendering.asks {
                group.addTask {
                    await ConsentPrompt.run(questions) { number, accept in
                        Task { _ = try? await Daemon.ask(.answer(offer: number, accept: accept)) }
                    }
                    // The terminal has closed, but the page stays.
                    try await Task.sleep(for: .seconds(86_400 * 365))
                    return nil
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// How long the receiver may take to close the page.
    private static let farewell: Duration = .seconds(3)

    private func waitForEnd(_ page: PageProgress) async {
        let end = ContinuousClock.now + Self.farewell
        while end > .now, case .page(let now)? = try? await Daemon.ask(.page(.follow(ticket: page.ticket, seen: 0))),
            now.phase != .closed
        { try? await Task.sleep(for: .milliseconds(50)) }
    }

    /// Shows the steps of guests, and each other address, until the page is closed.
    private func steps(_ page: PageProgress) async throws -> PageProgress.End? {
        var (seen, address) = (page.revision, page.authorities.first)
        while true {
            let reply: ControlReply
            do {
                reply = try await Daemon.ask(.page(.follow(ticket: page.ticket, seen: seen)))
            } catch {
                try Task.checkCancellation()
                return .receiver
            }
            guard case .page(let now) = reply else { return .receiver }
            if now.revision != seen { for step in now.steps { rendering.show(step) } }
            seen = now.revision
            if now.phase == .open, now.authorities.first != address {
                address = now.authorities.first
                rendering.moved(now)
            }
            if now.phase == .closed { return now.end ?? .receiver }
        }
    }
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
