import Control

/// The status of a receiver for programs. Its fields have the names that they have in other lines of `--json`.
struct StatusFields: Encodable {
    var name: String
    var id: String
    var port: Int
    var inbox: String
    var accept: String
    var discovery: String
    /// How the receiver can be reached by the other dialects, by their names.
    var dialects: [String: String]?
    /// Bytes free for the Inbox; nil if it cannot be reached, and the reason.
    var free: UInt64?
    var inboxFault: String?
    var journalFault: String?
    var waitingOffers: Int
    var activeTransfers: Int
    var processID: Int
    var hook: String?
    /// Describes which rules of a handler's sandbox the kernel can enforce.
    var kernel: String?
    var visibility: String?
    var visibilityStored: String?
    var visibilitySeconds: Int64?
    var visibilityThen: String?
    var handlerCount: Int?
    var waitingDeliveries: Int?
    var parkedDeliveries: Int?
    var failedDeliveries: Int?
    var keptPartials: Int?
    var keptBytes: UInt64?
    var waitingJobs: Int?
    var sendingJobs: Int?
    var failedJobs: Int?
    var settingsFaults: [String]?
    var programFaults: [String]?
    var damage: [String]?
    /// Why the machine may sleep during transfers.
    var wakeFault: String?
    /// As in the lines `locked` and `unlocked`; nil from a receiver that is older than the command line.
    var protection: String?
    var unlocked: Bool?
    var locking: Bool?
    var unlockedOnce: Bool?
    var protectionSince: String?
    var waitingItems: Int?
    var protectionFault: String?
}

extension StatusFields {
    init(_ status: DaemonStatus) {
        (name, id, port, inbox) = (status.name, status.id, status.port, status.inbox)
        (accept, discovery) = (status.accept, status.discovery)
        dialects = status.dialects.map { all in Dictionary(all.map { ($0.name, $0.words) }) { first, _ in first } }
        (free, inboxFault, journalFault) = (status.freeRoom, status.inboxFault, status.journalError)
        (waitingOffers, activeTransfers) = (status.waitingOffers, status.activeTransfers)
        (processID, hook, kernel) = (status.processID, status.hook, status.sandbox)
        (visibility, visibilityStored) = (status.visible, status.visibleStored)
        (visibilitySeconds, visibilityThen) = (status.visibleSeconds, status.visibleThen)
        (handlerCount, waitingDeliveries) = (status.handlers, status.waitingDeliveries)
        (parkedDeliveries, failedDeliveries) = (status.parkedDeliveries, status.failedDeliveries)
        (keptPartials, keptBytes) = (status.keptPartials, status.keptBytes)
        (waitingJobs, sendingJobs, failedJobs) = (status.waitingJobs, status.sendingJobs, status.failedJobs)
        (settingsFaults, programFaults, damage) = (status.settingsFaults, status.programFaults, status.damage)
        wakeFault = status.wakeFault
        guard let report = status.protection else { return }
        let state = ProtectionFields.State(report)
        (protection, unlocked, unlockedOnce) = (state.protection, state.unlocked, state.unlockedOnce)
        (protectionSince, waitingItems) = (state.protectionSince, state.waitingItems)
        (protectionFault, locking) = (state.protectionFault, state.locking)
    }
}
