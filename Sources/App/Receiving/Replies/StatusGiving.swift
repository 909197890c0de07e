import Contacts
import HandlerCatalog
import Handlers
import HookSandbox
import Inbox
import Journal
import Lines
import Settings
import Sharing

/// A part of the receiver that knows some fields of `waft status`.
protocol StatusGiving {
    func fill(_ status: inout StatusLine)
}

extension VisibilityController: StatusGiving {
    func fill(_ status: inout StatusLine) {
        status.visibility = visibility.rawValue
        status.visibilityStored = overriddenVisibility?.rawValue
        if let next = nextVisibility {
            (status.visibilitySeconds, status.visibilityThen) = (next.seconds, next.visibility.rawValue)
        }
    }
}

extension ReceiverStore: StatusGiving {
    func fill(_ status: inout StatusLine) {
        do throws(TransferError) { status.free = try inbox.freeRoom() } catch {
            status.inboxFault =
                error.message
                + (error == .anotherInbox ? "; to use the folder that is there now: waft inbox adopt" : "")
        }
        let partials = inbox.partials
        (status.keptPartials, status.keptBytes) = (partials.count, partials.bytes)
        do throws(JournalError) { try journal.checkPlace() } catch { status.journalFault = error.description }
        guard let deliveries = try? journal.summary() else { return }
        (status.waitingDeliveries, status.parkedDeliveries) = (deliveries.waiting, deliveries.parked)
        status.failedDeliveries = deliveries.failed
    }
}

extension Reception: StatusGiving {
    func fill(_ status: inout StatusLine) {
        status.activeTransfers = openTransfers
        let unsettled = unsettledItems
        if unsettled > 0 {
            status.journalFault = "stored items that are not recorded yet: \(unsettled); tried again every 30 seconds"
        }
    }
}

extension ReceiverPlan: StatusGiving {
    func fill(_ status: inout StatusLine) {
        status.waitingOffers = consent.offers.count
        status.hook = programs.current.hook?.executable
    }
}

extension CatalogWatch: StatusGiving {
    func fill(_ status: inout StatusLine) {
        let snapshot = current
        status.handlerCount = snapshot.bundles.count(where: snapshot.isEnabled)
        status.kernel = "\(HookSandbox.support)"
    }
}
