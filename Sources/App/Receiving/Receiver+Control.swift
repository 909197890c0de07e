import Contacts
import Control
import Desktop
import Endpoints
import Glibc
import HandlerCatalog
import Handlers
import HookSandbox
import Inbox
import Journal
package import Lines
import Outbox
import Sending
import Settings
package import Sharing
import Synchronization

extension Receiver {
    /// An offer as it is shown to people, with its sender. Reads the contacts.
    package func line(of offer: WaitingOffer) -> OfferLine { relay.line(of: offer) }

    /// Answers a request from the control socket.
    func reply(to request: ControlRequest, _ parts: ReceiverParts) async -> ControlReply {
        switch request {
        case .offers:
            return .offers(consent.offers.map(line))
        case .items(let number, let first):
            guard let items = consent.offers.first(where: { $0.number == number })?.offer.items else {
                return .unknown("no offer \(number) waits for an answer")
            }
            let page = items.indices.dropFirst(max(first, 0)).prefix(ControlRequest.itemsPerPage)
            return .items(page.map { ItemFields($0, items[$0], isWaiting: true) })
        case .preview(let number, let item):
            guard let waiting = consent.offers.first(where: { $0.number == number }) else {
                return .unknown("no offer \(number) waits for an answer")
            }
            guard waiting.offer.items.indices.contains(item) else {
                return .unknown("offer \(number) has no item \(item + 1)")
            }
            let preview = OfferPreviewLine(number, waiting.offer, item: item)
            return preview.map { .preview($0) } ?? .unknown("item \(item + 1) of offer \(number) has no preview")
        case .watch:
            // The server's own.
            return .refused("this cannot be watched")
        case .answer(let number, let accept):
            guard consent.answer(number, accept: accept) else {
                return .unknown("no offer \(number) waits for an answer")
            }
            return .done
        case .acceptItems(let number, let items, let folder):
            return accept(number, items, into: folder, parts)
        case .block(let number):
            guard let offer = consent.offers.first(where: { $0.number == number }) else {
                return .unknown("no offer \(number) waits for an answer")
            }
            if let dialect = offer.peer.unprovenBy {
                return .refused(
                    "the sender of offer \(number) cannot be blocked: \(dialect.title) proves no key; without --block the offer is declined"
                )
            }
            do {
                try parts.door.block(offer.peer, callingItself: offer.offer.senderName)
            } catch {
                return .refused("\(error)")
            }
            for other in consent.offers where other.peer == offer.peer { consent.answer(other.number, accept: false) }
            return .done
        case .transfers:
            return .transfers(parts.moving.all(accepted: parts.reception.underWay))
        case .moving(let transfer):
            return parts.moving.reported(transfer) ? .cancelled : .done
        case .cancel(let transfer):
            if let id = TransferID(transfer), parts.reception.cancel(id) { return .done }
            if let reply = await parts.outbox.cancel(transfer: transfer) { return reply }
            return parts.moving.cancel(transfer) ? .done : .unknown("no such transfer moves now")
        case .lookAgain:
            parts.door.lookAgain()
            return .done
        case .refreshHandlers:
            await parts.refreshHandlers()
            return .done
        case .reloadSettings:
            return .settings(await reload.reload(parts) { self.ports })
        case .adoptInbox:
            do {
                try parts.inbox.adopt()
                return .done
            } catch {
                return .refused(error.description)
            }
        case .retry(let number):
            switch await parts.engine.retry(ArrivalNumber(number)) {
            case .begun: return .done
            case .unknown: return .unknown("no item is numbered \(number)")
            case .left: return .unknown("item \(number) has left the Inbox")
            case .underWay: return .refused("a handler is already working on item \(number)")
            case .fault(let reason): return .refused(reason)
            }
        case .open(let number, let handler, let annotation):
            switch await parts.engine.open(ArrivalNumber(number), in: handler, annotation: annotation) {
            case .answered(let outcome):
                return .handlerAnswered(
                    outcome.answer.rawValue, exitCode: outcome.exitCode, reason: outcome.reason)
            case .unknown: return .unknown("no item is numbered \(number)")
            case .left: return .unknown("item \(number) has left the Inbox")
            case .underWay: return .refused("a handler is already working on item \(number)")
            case .locked: return .locked("item \(number) is sealed, and Waft is locked")
            case .fault(let reason): return .refused(reason)
            }
        case .release(let number, let now):
            switch await parts.engine.release(ArrivalNumber(number), within: now ? .zero : .seconds(5)) {
            case .free: return .done
            case .read(let handler, let time):
                return .beingRead(handler: handler, seconds: Int(time.components.seconds))
            }
        case .departed(let number, let how, let toward):
            do {
                let departure = Departure(how, at: .now, toward: toward)
                for number in try parts.journal.departed([ArrivalNumber(number)], departure) {
                    if let arrival = try parts.journal.arrival(number) { relay.left(arrival, departure) }
                }
                return .done
            } catch {
                return .refused(error.description)
            }
        case .followRenames:
            do throws(JournalError) { try ReceiverParts.followRenames(parts.inbox, parts.journal) } catch {
                return .refused(error.description)
            }
            return .done
        case .pairing(.open) where parts.door.visibility == .off:
            return .refused("this receiver is off, and nobody can reach it; see: waft visible")
        case .pairing(let request):
            return await parts.pairing.reply(to: request)
        case .outbox(let request):
            return await parts.outbox.reply(to: request)
        case .protection(let request):
            return await parts.reply(to: request)
        case .page(let request):
            return await parts.guests.reply(to: request, on: parts.blocking)
        case .status:
            return .status(await status(parts))
        }
    }

    private func accept(
        _ number: Int, _ items: [Int]?, into text: String?, _ parts: ReceiverParts
    ) -> ControlReply {
        guard let offer = consent.offers.first(where: { $0.number == number }) else {
            return .unknown("no offer \(number) waits for an answer")
        }
        if let missing = items?.first(where: { !offer.offer.items.indices.contains($0) }) {
            return .unknown("offer \(number) has no item \(missing &+ 1)")
        }
        var folder: SafeRelativePath?
        do {
            folder = try text.map { try SafeRelativePath($0) }
        } catch {
            return .refused("that is not a folder below the Inbox: \(error)")
        }
        // Before the answer: then the contents come.
        let present = folder.map { self.present(items, of: offer, outside: $0, parts) }
        guard consent.answer(number, accepting: items.map(Set.init), into: folder) else {
            return .unknown("no offer \(number) waits for an answer")
        }
        return present.map { .accepted(AcceptedLine(offer: number, items: items, folder: text, present: $0)) } ?? .done
    }

    /// The items that a folder will not get, because they seem to be somewhere else in the Inbox.
    private func present(
        _ items: [Int]?, of waiting: WaitingOffer, outside folder: SafeRelativePath, _ parts: ReceiverParts
    ) -> [AcceptedLine.Present] {
        let arrivals = EarlierArrivals(inbox: parts.inbox, journal: parts.journal)
        let offered = waiting.offer.items
        return (items ?? Array(offered.indices)).prefix(AcceptedLine.maximumPresent).compactMap { number in
            guard let arrival = arrivals.latest(offered[number], from: waiting.peer),
                arrival.destination.folder != folder
            else { return nil }
            return AcceptedLine.Present(
                name: offered[number].name.text, arrival: arrival.holder.value, stored: arrival.stored.name.text)
        }
    }

    private func status(_ parts: ReceiverParts) async -> StatusLine {
        let standing = standing.withLock { $0 }
        let first = parts.endpoints.first.flatMap { standing.endpoints[$0.dialect] }
        let snapshot = parts.catalog.current
        let dialects = parts.endpoints.dropFirst().map { endpoint in
            StatusLine.Dialect(
                name: endpoint.dialect.name,
                title: endpoint.dialect.isByInvitation ? "guests" : endpoint.dialect.title,
                words: standing.endpoints[endpoint.dialect]?.words ?? "off")
        }
        var status = StatusLine(
            name: settings.name, id: standing.id?.text ?? "", port: first?.port ?? 0, inbox: home.inbox,
            accept: settings.accept.rawValue, discovery: first?.words ?? "off", dialects: dialects,
            free: try? parts.inbox.freeRoom(), waitingOffers: consent.offers.count,
            activeTransfers: parts.reception.openTransfers, processID: Int(getpid()),
            hook: plan.programs.current.hook?.executable)
        status.transfers = Array(
            parts.moving.all(accepted: parts.reception.underWay).filter { !$0.isOver }
                .prefix(StatusLine.shownTransfers))
        if status.free == nil {
            do throws(TransferError) { status.free = try parts.inbox.freeRoom() } catch {
                status.inboxFault =
                    error.message
                    + (error == .anotherInbox ? "; to use the folder that is there now: waft inbox adopt" : "")
            }
        }
        let missing =
            SettingsJudge(home).faults(of: settings).filter { $0.kind == .program }.map(\.text)
            + SettingsJudge.handlerFaults(snapshot, settings)
        status.programFaults = missing.isEmpty ? nil : missing
        let reloaded = await reload.standing
        status.settingsFaults = reloaded.faults.isEmpty ? nil : reloaded.faults
        status.settingsSince = LineTime(reloaded.since)
        status.visibility = parts.door.visibility.rawValue
        status.visibilityStored = parts.door.overriddenVisibility?.rawValue
        if let next = parts.door.nextVisibility {
            (status.visibilitySeconds, status.visibilityThen) = (next.seconds, next.visibility.rawValue)
        }
        if settings.inhibitsSleep { status.wakeFault = plan.inhibitor.refusal?.words }
        status.kernel = "\(HookSandbox.support)"
        status.handlerCount = snapshot.bundles.count(where: snapshot.isEnabled)
        let jobs = parts.outbox.summary
        (status.waitingJobs, status.sendingJobs, status.failedJobs) = (jobs.waiting, jobs.sending, jobs.failed)
        let partials = parts.inbox.partials
        (status.keptPartials, status.keptBytes) = (partials.count, partials.bytes)
        let unsettled = parts.reception.unsettledItems
        if unsettled > 0 {
            status.journalFault = "stored items that are not recorded yet: \(unsettled); tried again every 30 seconds"
        }
        do throws(JournalError) { try parts.journal.checkPlace() } catch { status.journalFault = error.description }
        if let deliveries = try? parts.journal.summary() {
            status.waitingDeliveries = deliveries.waiting
            status.parkedDeliveries = deliveries.parked
            status.failedDeliveries = deliveries.failed
        }
        status.protect(parts.lockLine)
        let damage = home.damage(home.contactBook(logger), parts.journal)
        status.damage = damage.isEmpty ? nil : damage
        return status
    }
}

extension StatusLine {
    fileprivate mutating func protect(_ lock: LockLine) {
        (protection, unlocked, unlockedOnce) = (lock.protection, lock.unlocked, lock.unlockedOnce)
        (locking, protectionSince) = (lock.locking, lock.protectionSince)
        (waitingItems, protectionFault) = (lock.waitingItems, lock.protectionFault)
        (isProtectionSetUp, isDropBox) = (lock.isSetUp, lock.isDropBox)
    }
}
