import Foundation
import Lines
import Operations
import Sharing
import Synchronization

/// The Waft of one user: sends from this process, and talks to the user's receiver, which runs as a program of its own
/// (`waftd`, or `waft receive`). It prints nothing, and leaves limits, the umask and the handlers of signals alone; only
/// SIGPIPE is ignored once there is a connection.
public struct Waft: Sendable {
    /// How something is sent.
    public struct Options: Sendable, Hashable {
        /// The subject of all that is sent; one line.
        public var subject: String?
        /// A note for the other side's handler.
        public var note: String?
        /// Whether the sending ends when a handler there has opened the items, and not when they are stored.
        public var waitsForHandlers = false
        /// Whether the items that the other side accepts are sent when it refuses others.
        public var takesPart = false

        /// The usual ones: until everything is stored, and all of it or nothing.
        public init() {}
    }

    private let house: Operations.Waft

    /// Reads the settings.
    /// - Parameter home: the folder that `WAFT_HOME` names for `waft`; nil for the usual places.
    /// - Throws: `usage` if there is no such place, if another user could change it, or if a setting is invalid.
    public init(home: String? = nil) throws(WaftError) {
        var environment = ProcessInfo.processInfo.environment
        if let home { environment["WAFT_HOME"] = home }
        do throws(Operations.WaftError) {
            house = try Operations.Waft(environment: environment)
        } catch {
            throw WaftError(error)
        }
    }

    /// The peers that are in view or answer at a remembered address: contacts first, then by name.
    /// - Parameter time: how long to look.
    public func peers(for time: Duration = .seconds(3)) async throws(WaftError) -> [Peer] {
        var found: [PeerID: Person] = [:]
        let search = try await WaftError.catching { () throws(Operations.WaftError) in
            try house.peers.search(for: time)
        }
        for await news in search {
            switch news {
            case .found(_, let person): found[person.id] = person
            case .lost(_, let id): found[id] = nil
            case .away, .trouble: break
            }
        }
        let peers = found.values.map { Peer($0) }
        return peers.sorted { ($0.contact == nil ? 1 : 0, $0.name) < ($1.contact == nil ? 1 : 0, $1.name) }
    }

    /// Sends items to a peer, from this process. It begins when the events are asked for. At the end every item is written
    /// and flushed to the disk there; otherwise the events end with the error of the first item that failed.
    ///
    /// Cancelling the task that reads the events cancels the sending and tells the other side; the last event is then the
    /// error `interrupted`, unless all was done.
    /// - Parameter peer: `Peer.reference`, the name of a peer, the beginning of its id, or `host[:port]`.
    public func send(
        _ items: [Item.Source], to peer: String, options: Options = Options()
    ) -> some AsyncSequence<TransferEvent, WaftError> & Sendable {
        Events(goodbye: .milliseconds(500)) { report, cancellation throws(WaftError) in
            try await send(items, to: peer, options, cancellation, report)
        }
    }

    /// The offers that wait for an answer: now, and again after each change.
    ///
    /// The events end with the error `notRunning` when no receiver runs or it ends, and without an error when their task
    /// is cancelled.
    public func offers() -> some AsyncSequence<[Offer], WaftError> & Sendable {
        Events(goodbye: .zero) { report, _ throws(WaftError) in
            let last = Mutex<[Offer]?>(nil)
            try await watch { event in
                switch event {
                case .visibility, .offer, .answered:
                    guard let offers = try? await house.offers.all().compactMap({ Offer($0) }) else { return }
                    let isNews = last.withLock { last in
                        defer { last = offers }
                        return last != offers
                    }
                    if isNews { report(offers) }
                default: break
                }
            }
        }
    }

    /// Answers an offer.
    /// - Throws: `inputMissing` if it does not wait any more, `notRunning` if no receiver runs.
    public func answer(_ offer: Offer, _ answer: Offer.Answer) async throws(WaftError) {
        try await WaftError.catching { () throws(Operations.WaftError) in
            switch answer {
            case .accept: _ = try await house.offers.accept(offer.id)
            case .acceptItems(let items): _ = try await house.offers.accept(offer.id, items: items)
            case .decline: _ = try await house.offers.decline(offer.id)
            case .block: _ = try await house.offers.decline(offer.id, block: true)
            }
        }
    }

    /// Items that arrive from now on. The events end as those of `offers`.
    public func arrivals() -> some AsyncSequence<Item, WaftError> & Sendable {
        Events(goodbye: .zero) { report, _ throws(WaftError) in
            try await watch { event in
                if case .arrival(let line) = event, line.change == .stored { report(Item(line)) }
            }
        }
    }

    /// The items in the Inbox, in the order in which they arrived. No receiver has to run.
    public func inbox() async throws(WaftError) -> [Item] {
        try await WaftError.catching { () throws(Operations.WaftError) in
            try house.inbox.list(try ArrivalChoice(house)).compactMap { Item($0) }
        }
    }
}

extension Waft {
    private func watch(_ see: @Sendable (ControlEvent) async -> Void) async throws(WaftError) {
        do {
            try await house.receiver.watch(see)
        } catch let error as Operations.WaftError {
            throw WaftError(error)
        } catch {
            return
        }
        if !Task.isCancelled { throw WaftError(code: .notRunning, reason: "the receiver ended") }
    }

    private func send(
        _ items: [Item.Source], to peer: String, _ wanted: Options, _ cancellation: Cancellation,
        _ report: @escaping @Sendable (TransferEvent) -> Void
    ) async throws(WaftError) {
        let (sources, previews) = try await WaftError.catching { () throws(Operations.WaftError) in
            let sources = try SendSources(items).make()
            return (sources, try house.previews(of: sources))
        }
        var options = SendOptions()
        options.annotation[Sharing.Offer.subjectKey] = wanted.subject
        options.annotation["note"] = wanted.note
        (options.takesPart, options.wait) = (wanted.takesPart, wanted.waitsForHandlers ? .opened : .stored)
        let failure = Mutex<WaftError?>(nil)
        let pace = Throttle()
        let exit = try await WaftError.catching { () throws(Operations.WaftError) in
            try await house.send(sources, to: [peer], options, previews: previews, cancellation: cancellation) {
                step, _ in
                switch step {
                case .progressed(let line) where line.bytes != line.total && !pace.isDue(): break
                case .ended(let lines):
                    lines.map { TransferEvent($0) }.forEach(report)
                    guard let line = lines.first(where: { $0.exit != nil }), let exit = line.exit else { break }
                    failure.withLock { $0 = WaftError(exit, line.reason ?? line.text) }
                case .failed(let line, let advice):
                    failure.withLock { $0 = WaftError(line.exit, line.reason, hint: advice.first) }
                default: TransferEvent(step).map(report)
                }
            }
        }
        if exit == .done { return }
        if exit == .interrupted { throw WaftError(code: .interrupted, reason: "cancelled") }
        throw failure.withLock { $0 } ?? WaftError(exit, "nothing was sent")
    }
}
