import Contacts
import Control
import Endpoints
import Glibc
import HandlerCatalog
package import Lines
import Sending
import Settings
package import Sharing
import Synchronization

extension Receiver {
    /// An offer as it is shown to people, with its sender. Reads the contacts.
    package func line(of offer: WaitingOffer) -> OfferLine { relay.line(of: offer) }

    /// Answers a request from the control socket, by the part that it is about.
    func reply(to request: ControlRequest, _ parts: ReceiverParts) async -> ControlReply {
        let (offers, transfers, arrivals) = (OfferReplies(parts), TransferReplies(parts), ArrivalReplies(parts))
        switch request {
        case .offers: return offers.all
        case .items(let number, let first): return offers.items(of: number, from: first)
        case .preview(let number, let item): return offers.preview(of: number, item: item)
        case .answer(let number, let accept): return offers.answer(number, accept: accept)
        case .acceptItems(let number, let items, let folder): return offers.accept(number, items, into: folder)
        case .block(let number): return offers.block(number)
        case .transfers: return transfers.all
        case .moving(let transfer): return transfers.reported(transfer)
        case .cancel(let transfer): return await transfers.cancel(transfer)
        case .adoptInbox: return arrivals.adoptInbox()
        case .retry(let number): return await arrivals.retry(number)
        case .open(let number, let handler, let annotation):
            return await arrivals.open(number, in: handler, annotation)
        case .release(let number, let now): return await arrivals.release(number, now: now)
        case .departed(let number, let how, let toward): return arrivals.departed(number, how, toward: toward)
        case .followRenames: return arrivals.followRenames()
        case .pairing(.open(let opening)) where parts.door.visibility == .off && opening.words == nil:
            return .refused("this receiver is off, and nobody can reach it; see: waft visible")
        case .pairing(.permit(let transfer, let peer)): return await permit(transfer, from: peer, parts)
        case .pairing(let request): return await parts.pairing.reply(to: request)
        case .outbox(let request): return await parts.network.outbox.reply(to: request)
        case .protection(let request): return await parts.protection.reply(to: request)
        case .page(let request): return await parts.guests.reply(to: request, on: parts.blocking)
        case .status: return .status(await status(parts))
        // The server's own.
        case .watch: return .refused("this cannot be watched")
        case .reloadSettings: return .settings(await reload.reload(parts) { self.ports })
        case .lookAgain: parts.door.lookAgain()
        case .refreshHandlers: await parts.handlers.refresh()
        }
        return .done
    }

    /// How long the port may take to open.
    private static let opening: Duration = .seconds(5)

    /// Lets a transfer in, and answers with the port at which it is taken.
    private func permit(_ transfer: String, from peer: String, _ parts: ReceiverParts) async -> ControlReply {
        guard let transfer = TransferID(transfer), let peer = PeerID(text: peer) else {
            return .refused("this is no transfer of a peer")
        }
        plan.listeners.permits.give(transfer, from: peer, at: .now)
        let end = ContinuousClock.now + Self.opening
        while let dialect = parts.network.endpoints.first?.dialect, ContinuousClock.now < end {
            if let port = ports[dialect], port > 0 { return .listening(port: port) }
            do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
        }
        return .refused("the port cannot be opened; see: waft status")
    }

    /// How the receiver is doing, as its parts know it.
    private func status(_ parts: ReceiverParts) async -> StatusLine {
        var status = ownStatus(parts)
        // In this order: a journal that cannot be written hides the items that it does not know yet.
        let giving: [any StatusGiving] = [
            plan, parts.reception, parts.store, TransferReplies(parts), parts.door, plan.listeners.awake, parts.catalog,
            parts.protection.standing, parts.radio,
        ]
        for part in giving { part.fill(&status) }
        let reloaded = await reload.standing
        status.settingsFaults = reloaded.faults.isEmpty ? nil : reloaded.faults
        status.settingsSince = LineTime(reloaded.since)
        let missing =
            SettingsJudge(home).faults(of: settings).filter { $0.kind == .program }.map(\.text)
            + SettingsJudge.handlerFaults(parts.catalog.current, settings)
        status.programFaults = missing.isEmpty ? nil : missing
        let damage = home.damage(home.contactBook(logger), parts.store.journal)
        status.damage = damage.isEmpty ? nil : damage
        return status
    }

    /// Its name, and how it can be reached.
    private func ownStatus(_ parts: ReceiverParts) -> StatusLine {
        let standing = standing.withLock { $0 }
        let endpoints = parts.network.endpoints
        let first = endpoints.first.flatMap { standing.endpoints[$0.dialect] }
        let dialects = endpoints.dropFirst().map { endpoint in
            StatusLine.Dialect(
                name: endpoint.dialect.name,
                title: endpoint.dialect.isByInvitation ? "guests" : endpoint.dialect.title,
                words: standing.endpoints[endpoint.dialect]?.words ?? "off")
        }
        return StatusLine(
            name: settings.name, id: standing.id?.text ?? "", port: first?.port ?? 0, inbox: home.inbox,
            accept: settings.accept.rawValue, discovery: first?.words ?? "off", dialects: dialects, free: nil,
            waitingOffers: 0, activeTransfers: 0, processID: Int(getpid()), hook: nil)
    }
}
