import Lines
import Operations
import Sharing

extension DeskCall {
    private struct Seeing: Decodable, Sendable {
        var visibility: VisibilityControl.Choice
        /// Such as `10m`; nil for a lasting choice.
        var lasting: String?
    }

    private struct OneJob: Decodable, Sendable {
        var job: Int
    }

    private struct Passphrase: Decodable, Sendable {
        var passphrase: String
    }

    /// The machine: its peers, its visibility, its outbox, its keys, and the findings about it.
    static let machine: [String: DeskCall] = [
        "peers": DeskCall { (_: Nothing, desk) in
            for await news in try desk.waft().peers.search(for: nil) {
                switch news {
                case .found(let line, _): try await desk.show(line)
                case .lost(let line, _): try await desk.show(line)
                case .away(let line): try await desk.show(line)
                case .trouble: break
                }
            }
            return .done
        },
        "visibility": .lines { (wanted: Seeing, waft) in
            let length = try wanted.lasting.map { text throws(WaftError) in try ContactTerms.duration(text) }
            return [try await waft.visibility.choose(wanted.visibility, for: length).line]
        },
        "page": DeskCall { (_: Nothing, desk) in
            let pages = try desk.waft().pages
            guard let page = try await pages.open(PageOpening()) else {
                throw WaftError(.notRunning, "no receiver is running")
            }
            return try await desk.showing { show in
                if let line = PageLine(page, byPIN: false) { show(line) }
                // A task of its own: the window cancels the task of the call.
                defer { Task { await pages.close(page) } }
                _ = try await pages.follow(page) { event in
                    switch event {
                    case .guest(let line): show(line)
                    case .moved(let page): if let line = PageLine(page, byPIN: false) { show(line) }
                    // The window hears them by the call `receiver`.
                    case .receiver: break
                    }
                }
                return .done
            }
        },
        "doctor": DeskCall { (_: Nothing, desk) in try await desk.apart(["doctor", "--json"]) },
        "outbox": .lines { (_: Nothing, waft) in try await waft.outbox.list(all: true).jobs },
        "outbox/cancel": .lines { (one: OneJob, waft) in [try await waft.outbox.cancel(one.job)] },
        "outbox/retry": .lines { (one: OneJob, waft) in [try await waft.outbox.retry(one.job)] },
        "outbox/remove": .lines { (one: OneJob, waft) in [try await waft.outbox.remove(one.job)] },
        "protection": .lines { (_: Nothing, waft) in [try await waft.protection.status()] },
        "protection/lock": .lines { (_: Nothing, waft) in [try await waft.protection.lock(all: false)] },
        "protection/unlock": DeskCall { (given: Passphrase, desk) in
            try await desk.apart(["unlock", "--passphrase-fd", "0", "--json"], input: given.passphrase + "\n")
        },
    ]
}

extension DeskCall {
    private struct Accepting: Decodable, Sendable {
        var offer: Int
        /// Places in the offer, from 0; nil for all.
        var items: [Int]?
        /// Below the Inbox; nil for the folder of the rules.
        var folder: String?
    }

    private struct Declining: Decodable, Sendable {
        var offer: Int
        /// Whether the sender is blocked.
        var blocks: Bool?
    }

    private struct Starting: Decodable, Sendable {
        /// Whether it starts at each login.
        var isLasting: Bool
    }

    private struct OneTransfer: Decodable, Sendable {
        /// Its whole id.
        var transfer: String
    }

    /// Offers and transfers.
    static let offers: [String: DeskCall] = [
        "receiver": DeskCall { (_: Nothing, desk) in
            // The next event waits until the window has this one.
            try await desk.waft().receiver.watch { event in try? await desk.show(event.line) }
            throw WaftError(.notRunning, "the receiver ended, or its events were read too slowly")
        },
        "receiver/start": .lines { (wanted: Starting, waft) in
            let service = Service(system: false, of: waft)
            guard wanted.isLasting else { return [try await service.startOnce()].compactMap(\.self) }
            return [try await service.install(now: true, linger: false, force: false) { _ in }.line]
        },
        "offers": .lines { (_: Nothing, waft) in try await waft.offers.all() },
        "offers/accept": .lines { (wanted: Accepting, waft) in
            [try await waft.offers.accept(wanted.offer, items: wanted.items, into: wanted.folder)]
        },
        "offers/decline": .lines { (wanted: Declining, waft) in
            [try await waft.offers.decline(wanted.offer, block: wanted.blocks == true)]
        },
        "transfers/cancel": .lines { (one: OneTransfer, waft) in [try await waft.transfers.cancel(one.transfer)] },
    ]
}
