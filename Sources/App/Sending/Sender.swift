import Contacts
import Control
package import Desktop
package import Endpoints
package import Sharing
import Synchronization

/// Sends activity items to one peer: finds it, connects, offers, moves accepted items, and returns receipts.
package struct Sender: Sendable {
    let finder: PeerFinder
    private let ownName: @Sendable () -> String
    private let inhibitor: @Sendable () -> SleepInhibitor?
    private let sentLog: SentLog?
    private let watch: (any SendingWatch)?

    /// - Parameters:
    ///   - ownName: the name that this peer gives itself; asked for at each transfer.
    ///   - sentLog: the log of sent transfers; nil if none is kept.
    ///   - inhibitor: keeps the machine awake once an item is accepted; nil if the machine may sleep.
    ///   - watch: sees how far each sending is.
    package init(
        finder: PeerFinder, ownName: @escaping @autoclosure @Sendable () -> String, sentLog: SentLog? = nil,
        inhibitor: @escaping @autoclosure @Sendable () -> SleepInhibitor? = nil, watch: (any SendingWatch)? = nil
    ) {
        (self.finder, self.ownName, self.sentLog, self.inhibitor) = (finder, ownName, sentLog, inhibitor)
        self.watch = watch
    }

    /// Where the dialect can resume, accepted items are resumed over new connections, as long as there is progress: see
    /// `SendOptions.retryFor`.
    ///
    /// - Parameters:
    ///   - previews: of the sources; nil for none.
    ///   - seat: the peer's place in a group; nil for a sending to it alone.
    ///   - cancellation: when requested, informs the other side and throws `SendError.cancelled`.
    ///   - observe: called in order, from one task.
    /// - Throws: `SendError`.
    package func send(
        _ sources: [any ItemSource],
        to reference: PeerReference,
        options: SendOptions,
        previews: OfferPreviews? = nil,
        seat: SendGroup.Seat? = nil,
        cancellation: Cancellation,
        observe: @escaping @Sendable (SendEvent) -> Void
    ) async throws(SendError) -> SendReport {
        let watched = watch.map(WatchedSending.init)
        do throws(SendError) {
            let report = try await run(
                sources, to: reference, options: options, previews: previews, seat: seat,
                cancellation: cancellation, watched: watched, observe: observe)
            sentLog?.note(report)
            let stored = report.storedItems
            await watched?.ended(
                stored == report.items.count
                    ? nil : "stored: \(stored) of \(report.items.count) items")
            return report
        } catch {
            await watched?.ended(error.description)
            throw error
        }
    }

    private func run(
        _ sources: [any ItemSource],
        to reference: PeerReference,
        options: SendOptions,
        previews: OfferPreviews?,
        seat: SendGroup.Seat?,
        cancellation: Cancellation,
        watched: WatchedSending?,
        observe: @escaping @Sendable (SendEvent) -> Void
    ) async throws(SendError) -> SendReport {
        let awake = WakeHold(inhibitor())
        defer { withExtendedLifetime(awake) {} }
        let transfer = options.transfer ?? TransferID()
        let recipient = Mutex<ItemRecipient?>(nil)
        let sources = sources.map { source in
            (source as? any RecipientItemSource)?.made { recipient.withLock { $0 } } ?? source
        }
        let observe: @Sendable (SendEvent) -> Void = { event in
            switch event {
            case .connected(let peer, let name):
                recipient.withLock { $0 = ItemRecipient(peer: peer, name: name, transfer: transfer) }
            case .answered(let verdict) where verdict.acceptsAnything: awake.take()
            case .progressed(let bytes, let total, _): watched?.moved(bytes, of: total, cancellation)
            default: break
            }
            observe(event)
        }
        func send(to target: PeerTarget) async throws(SendError) -> SendReport {
            guard let endpoint = finder.endpoint(for: target) else {
                throw SendError(.unreachable, "\(target.dialect.title) is not spoken here")
            }
            var offer = Offer(
                transfer: transfer,
                items: sources.map(\.offered), annotation: options.annotation, senderName: ownName(),
                takesPart: options.takesPart, asksHandlers: options.wait == .opened, dialect: target.dialect)
            offer.group = seat?.offered(in: target.dialect)
            watched?.began(offer, to: reference.description)
            return try await endpoint.send(
                SendRequest(
                    sources: sources, offer: offer, target: target, peerText: reference.description, options: options,
                    cancellation: cancellation, seat: seat,
                    offered: { [offer] in await self.offered(offer, to: $0, previews) },
                    observe: observe
                ) { () async throws(SendError) in
                    let found = try await finder.resolve(
                        reference, expecting: options.expected, within: options.finding)
                    // A transfer that one dialect began cannot be resumed by another.
                    guard found.dialect == target.dialect else {
                        throw SendError(.notFound, "\(reference) is not reachable now")
                    }
                    return found
                })
        }
        let target = try await finder.resolve(reference, expecting: options.expected, within: options.finding)
        do throws(SendError) {
            return try await send(to: target)
        } catch {
            guard case .unreachable = error.code, recipient.withLock({ $0 == nil }),
                let other = await finder.other(than: target, within: Self.asking)?.target,
                options.expected == nil || options.expected == other.expected
            else { throw error }
            guard other.addresses == target.addresses else {
                let place = other.addressTexts.joined()
                throw SendError(
                    error.code, error.description,
                    advice: ["\(other.dialect.title) is spoken there: --to \(place)"])
            }
            return try await send(to: other)
        }
    }

    /// - Parameter members: the peers that get the items.
    /// - Returns: nil if the items are not sent as a group.
    package func group(_ sources: [any ItemSource], members: Int) -> SendGroup? {
        finder.endpoints.lazy.compactMap { $0 as? WaftEndpoint }.first?
            .group(sources, members: members)
    }

    /// How long a program of another dialect may take to answer.
    private static let asking: Duration = .seconds(2)

    /// The offer as a peer gets it.
    private func offered(_ offer: Offer, to peer: PeerID, _ previews: OfferPreviews?) async -> Offer {
        guard let previews else { return offer }
        var isContact = false
        if let snapshot = try? finder.contacts?.snapshot(),
            case .contact = snapshot.relation(of: peer, by: offer.dialect)
        {
            isContact = true
        }
        return previews.rule.includes(contact: isContact) ? await previews.offer(offer) : offer
    }

    /// Asks a peer what it has of a transfer that was offered to it before.
    ///
    /// - Parameter offer: with the number and as many items as it had.
    /// - Returns: nil if the peer knows of no such transfer, or nothing of it has ended, or its dialect has no receipts.
    /// - Throws: `SendError`.
    func receipt(
        of offer: Offer, from reference: PeerReference, options: SendOptions
    ) async throws(SendError) -> Receipt? {
        let target = try await finder.resolve(reference, expecting: options.expected, within: options.finding)
        return try await finder.endpoint(for: target)?.receipt(
            of: offer, from: target, peerText: reference.description, options: options)
    }
}
