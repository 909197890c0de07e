import Contacts
import Endpoints
import Outbox
import Sharing
import Synchronization
import UniformTypes

/// Sends jobs of the outbox over the network.
struct OutboxSender: OutboxSending {
    private let sender: Sender
    private let ownName: @Sendable () -> String
    private let previews: @Sendable ([any ItemSource]) -> OfferPreviews
    private let groups = OutboxGroups()

    /// Whether a receiver takes a transfer again under its old number. Then the transfer resumes, and needs no second
    /// consent. Otherwise the rest of it is a new transfer.
    private static let offersAgain = true
    /// How long a peer is looked for in one attempt.
    private static let finding: Duration = .seconds(10)

    init(
        sender: Sender, ownName: @escaping @Sendable () -> String,
        previews: @escaping @Sendable ([any ItemSource]) -> OfferPreviews
    ) {
        (self.sender, self.ownName, self.previews) = (sender, ownName, previews)
    }

    func appearances() -> AsyncStream<OutboxAppearance> {
        AsyncStream { continuation in
            let finder = sender.finder
            let task = Task {
                for await event in finder.peers(for: nil) {
                    guard case .found(let peer) = event else { continue }
                    continuation.yield(OutboxAppearance(id: peer.id, name: peer.card?.name))
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    func send(
        _ shipment: OutboxShipment,
        cancellation: Cancellation,
        note: @escaping @Sendable (OutboxStep) throws(OutboxError) -> Void
    ) async -> OutboxResult {
        do throws(OutboxJobError) {
            let reference = try reference(to: shipment)
            let known = try await settled(shipment, reference)
            if !known.isEmpty {
                do throws(OutboxError) {
                    try note(.settled(known))
                } catch {
                    throw OutboxJobError(.unexpected, error.description, isFinal: false)
                }
            }
            let open = shipment.open.filter { known[$0] == nil }
            if open.isEmpty { return OutboxResult(outcomes: known) }
            let parcel = try Parcel(shipment, open: open, again: Self.offersAgain)
            return try await send(parcel, shipment, reference, cancellation, note)
        } catch {
            return OutboxResult(failure: error)
        }
    }

    // MARK: To whom

    private func reference(to shipment: OutboxShipment) throws(OutboxJobError) -> PeerReference {
        let destination = shipment.job.destination
        do {
            guard let key = destination.key else { return try PeerReference(destination.text) }
            // It may have another name by now.
            guard let contact = try sender.finder.contacts?.snapshot()[key] else {
                throw OutboxJobError(
                    .peerNotFound, "\(destination.text) (\(key.short)) is no longer a contact", isFinal: true)
            }
            return .name(contact.name.text)
        } catch let failure as OutboxJobError {
            throw failure
        } catch {
            throw OutboxJobError(.peerNotFound, "\(error)", isFinal: false)
        }
    }

    // MARK: Items that arrived before

    /// The peer's receipt for an attempt that may have ended without a report to this side.
    private func settled(
        _ shipment: OutboxShipment, _ reference: PeerReference
    ) async throws(OutboxJobError) -> [Int: SettledItem] {
        guard shipment.wasOffered else { return [:] }
        let offer = Offer(
            transfer: shipment.transfer,
            items: try shipment.offered.map { number throws(OutboxJobError) in
                try shipment.job.items[number].placeholder
            }, senderName: ownName(), dialect: DialectTable.known.standard)
        let receipt: Receipt?
        do throws(SendError) {
            receipt = try await sender.receipt(of: offer, from: reference, options: options(shipment))
        } catch {
            throw OutboxJobError(error)
        }
        var outcomes: [Int: SettledItem] = [:]
        for (number, item) in zip(shipment.offered, receipt?.items ?? []) where shipment.open.contains(number) {
            // The sent digests are no longer known: the receipt is compared with the offer alone.
            if let lie = try item.contradiction(of: shipment.job.items[number].placeholder, sent: nil) {
                outcomes[number] = SettledItem(OutboxJobError(.changed, lie.message, isFinal: true))
                continue
            }
            switch SettledItem.of(item, waitsForHandlers: shipment.job.options.waitsForHandlers) {
            case .success(let outcome): outcomes[number] = outcome
            case .failure(.handlerPending): throw .handlerPending
            case .failure: continue
            }
        }
        return outcomes
    }

    // MARK: Sending

    /// The items that are offered in one attempt.
    private struct Parcel {
        var transfer: TransferID
        /// Places in the job.
        var items: [Int]
        var sources: [any ItemSource]

        init(_ shipment: OutboxShipment, open: [Int], again: Bool) throws(OutboxJobError) {
            if again, shipment.wasOffered, let sources = try? shipment.sources(shipment.offered) {
                (transfer, items, self.sources) = (shipment.transfer, shipment.offered, sources)
                return
            }
            transfer = shipment.wasOffered ? TransferID() : shipment.transfer
            items = open
            sources = try shipment.sources(open)
        }
    }

    private func options(_ shipment: OutboxShipment) -> SendOptions {
        var options = SendOptions()
        options.expected = shipment.peer
        options.wait = shipment.job.options.waitsForHandlers ? .opened : .stored
        options.annotation = shipment.job.options.annotation
        options.takesPart = shipment.job.options.takesPart
        options.finding = Self.finding
        // The outbox tries again later, by a schedule of its own.
        options.waitsForTurn = false
        options.starting = .zero
        return options
    }

    private func send(
        _ parcel: Parcel, _ shipment: OutboxShipment, _ reference: PeerReference,
        _ cancellation: Cancellation, _ note: @escaping @Sendable (OutboxStep) throws(OutboxError) -> Void
    ) async throws(OutboxJobError) -> OutboxResult {
        var options = options(shipment)
        options.transfer = parcel.transfer
        let peer = Mutex<(id: PeerID, name: String?)?>(nil)
        let broken = Mutex<OutboxError?>(nil)
        let isWhole = parcel.items.count == shipment.job.items.count
        let party = isWhole ? shipment.party : nil
        let seat = party.flatMap { party in
            groups.enter(party) { sender.group(parcel.sources, members: party.members) }
        }
        defer { if let party { groups.leave(party) } }
        let report: SendReport
        do throws(SendError) {
            report = try await sender.send(
                parcel.sources, to: reference, options: options, previews: previews(parcel.sources), seat: seat,
                cancellation: cancellation
            ) { event in
                switch event {
                case .connected(let id, let name):
                    peer.withLock { $0 = (id, name) }
                case .progressed(let bytes, let total, _):
                    shipment.progressed(bytes, total)
                case .offered(let offer):
                    guard let peer = peer.withLock({ $0 }) else { return }
                    do throws(OutboxError) {
                        try note(.offering(offer.transfer, parcel.items, to: peer.id, callingItself: peer.name))
                    } catch {
                        // An offer that cannot be recorded is not sent.
                        broken.withLock { $0 = error }
                        withUnsafeCurrentTask { $0?.cancel() }
                    }
                default: break
                }
            }
        } catch {
            if let broken = broken.withLock({ $0 }) {
                throw OutboxJobError(.unexpected, broken.description, isFinal: false)
            }
            throw OutboxJobError(error)
        }
        var result = OutboxResult()
        for (number, item) in zip(parcel.items, report.items) {
            switch SettledItem.of(item, waitsForHandlers: shipment.job.options.waitsForHandlers) {
            case .success(let outcome): result.outcomes[number] = outcome
            case .failure(let failure): result.failure = result.failure ?? failure
            }
        }
        return result
    }
}

extension OutboxItem {
    /// As it is, or was, offered.
    var placeholder: OfferedItem {
        get throws(OutboxJobError) {
            guard let name = try? SafeName(name), let type = UniformType(type) else {
                throw OutboxJobError(.unexpected, "a job of the outbox is damaged: a name in it", isFinal: true)
            }
            return OfferedItem(kind: kind, name: name, type: type, size: size, entries: entries)
        }
    }
}

extension OutboxJobError {
    init(_ failure: SendError) {
        let reason = failure.description
        switch failure.code {
        case .notFound, .ambiguous: self.init(.peerNotFound, reason, isFinal: false)
        case .unreachable, .cancelled: self.init(.unreachable, reason, isFinal: false)
        case .noAnswer: self.init(.noAnswer, reason, isFinal: false)
        case .refused(let code): self.init(TransferError(code, reason))
        case .unfit: self.init(.unexpected, reason, isFinal: true)
        }
    }
}
