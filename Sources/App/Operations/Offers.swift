import Control
package import Lines

extension Waft {
    /// The offers that wait for an answer.
    package var offers: Offers { Offers(receiver: receiver) }
}

/// The offers that wait for an answer. Only a running receiver has them: every call throws `notRunning` without one.
package struct Offers: Sendable {
    fileprivate let receiver: ReceiverConnection

    /// Each with the first `shownItems` of its items.
    /// - Throws: `WaftError`.
    package func all() async throws(WaftError) -> [OfferLine] {
        guard case .offers(let offers) = try await receiver.ask(.offers) else {
            throw WaftError(.unexpected, "the receiver gave no offers")
        }
        return offers
    }

    /// - Throws: `WaftError`, `inputMissing` if no offer with this number waits.
    package func offer(_ number: Int) async throws(WaftError) -> OfferLine {
        guard let offer = try await all().first(where: { $0.offer == number }) else {
            throw WaftError(.inputMissing, "no offer \(number) waits for an answer", hint: Self.list)
        }
        return offer
    }

    /// An offer with all of its items.
    /// - Throws: as `offer`.
    package func whole(_ number: Int) async throws(WaftError) -> OfferLine {
        var offer = try await offer(number)
        while offer.items.count < offer.count {
            switch try await receiver.ask(.items(offer: number, from: offer.items.count)) {
            case .items(let more) where !more.isEmpty: offer.items += more
            case .unknown(let reason): throw WaftError(.inputMissing, reason, hint: Self.list)
            default: throw WaftError(.unexpected, "the receiver did not show all items of the offer")
            }
        }
        return offer
    }

    /// Accepts an offer, or some of its items.
    /// - Parameters:
    ///   - items: places in the offer, from 0; nil for all. The others are declined.
    ///   - folder: below the Inbox; nil for the folder of the rules.
    /// - Throws: `WaftError`: `inputMissing` if there is no such offer or item, `usage` for a folder elsewhere.
    package func accept(
        _ number: Int, items: [Int]? = nil, into folder: String? = nil
    ) async throws(WaftError) -> AcceptedLine {
        let isWhole = items == nil && folder == nil
        return try await answer(
            isWhole ? .answer(offer: number, accept: true) : .acceptItems(offer: number, items: items, folder: folder))
            ?? AcceptedLine(offer: number, items: items, folder: folder)
    }

    /// - Parameter block: also declines everything else that its sender will offer.
    /// - Throws: `WaftError`: `inputMissing` if there is no such offer, `usage` if its sender cannot be blocked.
    package func decline(_ number: Int, block: Bool = false) async throws(WaftError) -> DeclinedLine {
        _ = try await answer(block ? .block(offer: number) : .answer(offer: number, accept: false))
        return DeclinedLine(offer: number, blocked: block)
    }

    /// - Parameter item: its place in the offer, from 0.
    /// - Throws: `WaftError`, `inputMissing` if there is no such offer or item, or if it has no preview.
    package func preview(_ number: Int, item: Int) async throws(WaftError) -> OfferPreviewLine {
        switch try await receiver.ask(.preview(offer: number, item: item)) {
        case .preview(let preview): return preview
        case .unknown(let reason): throw WaftError(.inputMissing, reason, hint: Self.list)
        default: throw WaftError(.unexpected, "the receiver gave no preview")
        }
    }

    private static let list = "see: waft offers"

    private func answer(_ request: ControlRequest) async throws(WaftError) -> AcceptedLine? {
        switch try await receiver.ask(request) {
        case .done: return nil
        case .accepted(let line): return line
        case .unknown(let reason): throw WaftError(.inputMissing, reason, hint: Self.list)
        case .refused(let reason): throw WaftError(.usage, reason)
        default: throw WaftError(.unexpected, "the receiver gave no answer")
        }
    }
}
