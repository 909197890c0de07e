import Sharing
import Synchronization
import WebPages

/// A session with its guests and their offers.
final class OpenSession: Sendable {
    private struct State {
        var guests = Guests()
        var offers: [GuestOffer] = []
        var isClosed = false
        /// Requests of guests that are being answered, and when the last one was over.
        var requests = 0
        var quietSince = ContinuousClock.now
    }

    let facts: WebSession
    let shared: SharedItems
    let downloads: Downloads
    private let state = Mutex(State())

    init(_ facts: WebSession) {
        self.facts = facts
        shared = SharedItems(facts.items)
        downloads = Downloads(shared)
    }

    /// Whether no guest gets in, and nothing new begins.
    var isOver: Bool {
        if state.withLock({ $0.isClosed }) { return true }
        return facts.end.map { $0 <= .now } ?? false
    }

    /// Whether a request of a guest is being answered, or the files of an offer come.
    var isBusy: Bool { state.withLock { $0.requests > 0 || $0.offers.contains { !$0.isOver } } }

    // MARK: Guests

    /// The guest of a cookie; nil if it is unknown.
    func guest(_ token: String?) -> Guest? {
        guard let token else { return nil }
        return state.withLock { $0.guests.guest(token) }
    }

    /// Makes a guest of a visitor with the right secret or PIN.
    /// - Parameters:
    ///   - address: of the visitor.
    ///   - token: of a program without cookies; nil for a new one.
    /// - Returns: nil if no other guest may come; and whether the guest is new.
    func enter(from address: AddressKey?, _ token: String? = nil) -> (guest: Guest, isNew: Bool)? {
        state.withLock { state in
            if let token, let known = state.guests.guest(token) { return (known, false) }
            guard !state.isClosed, !facts.isOnce || state.guests.isEmpty else { return nil }
            let guest = Guest(token: token ?? WebSecret.make())
            let offers = state.offers
            guard
                state.guests.add(
                    guest, at: address,
                    isAtWork: { guest in
                        offers.contains { $0.guest == guest && !$0.isOver }
                    })
            else { return nil }
            return (guest, true)
        }
    }

    /// Runs `body`, which answers a request of a guest.
    func counting(_ guest: Guest, _ body: () async throws -> Void) async throws {
        let isCounted = state.withLock { state in
            state.requests += 1
            return state.guests.beginRequest(guest)
        }
        defer {
            state.withLock { state in
                state.requests -= 1
                if isCounted { state.guests.endRequest(guest) }
                state.quietSince = .now
            }
        }
        try await body()
    }

    /// How long no guest has asked for anything.
    var quietTime: Duration {
        state.withLock { state in state.requests > 0 ? .zero : state.quietSince.duration(to: .now) }
    }

    // MARK: Offers

    /// Whether there is room for another offer.
    func add(_ offer: GuestOffer) -> Bool {
        state.withLock { state in
            let open = state.offers.count { !$0.isOver }
            guard !state.isClosed, open < WebLimits.openOffers else { return false }
            if state.offers.count - open >= WebLimits.endedOffers, let oldest = state.offers.firstIndex(where: \.isOver)
            {
                state.offers.remove(at: oldest)
            }
            state.offers.append(offer)
            return true
        }
    }

    func offer(_ id: String, of guest: Guest) -> GuestOffer? {
        state.withLock { state in state.offers.first { $0.id == id && $0.guest == guest } }
    }

    /// Ends all offers, and forgets the guests. The files that have come stay.
    func close() async {
        let offers = state.withLock { state in
            state.isClosed = true
            state.guests = Guests()
            return state.offers
        }
        for offer in offers { await offer.close(.cancelled, TransferError(.stopping, "the host has closed the page")) }
    }
}
