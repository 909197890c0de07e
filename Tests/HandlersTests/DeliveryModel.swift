import Digests
import HandlerCatalog
import HookSandbox
import Sharing
import TestSupport
import UniformTypes

@testable import Handlers

/// The surroundings of a ledger of deliveries, as a model: clock, lock, handlers, programs and disk. The journal is
/// `MemoryJournal`, with faults on demand.
final class DeliveryModel: DeliveryFacts {
    struct Handler {
        var isInstalled = true
        var mode: LaunchRules.Mode
        var version = 1
        var isProgramThere = true
    }

    /// The writes and reads that fail now.
    final class Faults: @unchecked Sendable {
        var began = false
        var ended = false
        var read = false
    }

    static let names = ["a", "b", "c"]

    let faults: Faults
    let journal: MemoryJournal
    var uptime: Duration = .seconds(100)
    var unlocked: Set<ProtectionClass> = [.none]
    /// In the order of the calls.
    var handlers = [
        "a": Handler(mode: .perItem), "b": Handler(mode: .perTransfer), "c": Handler(mode: .resident),
    ]
    /// The arrivals whose items are not on the disk, by their holders.
    var missing: Set<ArrivalNumber> = []
    var isMounted = true
    /// Whether clear copies of more than one item fit.
    var hasRoom = true

    init() {
        let faults = Faults()
        self.faults = faults
        journal = MemoryJournal(fault: { operation in
            switch operation {
            case .began where faults.began, .ended where faults.ended, .end where faults.ended:
                TransferError(.storage, "the disk is full")
            default: nil
            }
        })
    }

    var now: WallTime { WallTime(milliseconds: 1_000_000 + uptime.components.seconds * 1_000) }

    func canOpen(_ protection: ProtectionClass) -> Bool { unlocked.contains(protection) }

    func arrival(_ number: ArrivalNumber) -> JournalledArrival {
        if faults.read { return .unreadable }
        return current(number).map { .there($0) } ?? .none
    }

    /// An arrival as it is now, also while its ledger cannot read it.
    func current(_ number: ArrivalNumber) -> Arrival? { try? journal.arrival(number) }

    func subject(_ arrival: Arrival) -> HandlerChoice.Subject {
        HandlerChoice.Subject(
            type: arrival.type, kind: arrival.item.kind, chosen: arrival.destination.handler,
            protection: arrival.protection)
    }

    /// Of the type `public.png` all handlers, of another one all but the first.
    func candidates(for subject: HandlerChoice.Subject) -> [HandlerChoice.Candidate] {
        var names = Self.names.filter { handlers[$0]?.isInstalled == true }
        if subject.type != uniform("public.png") { names.removeAll { $0 == "a" } }
        if let chosen = subject.chosen, let index = names.firstIndex(of: chosen) {
            names.insert(names.remove(at: index), at: 0)
        }
        return names.map { HandlerChoice.Candidate(program: program($0)) }
    }

    func program(_ name: String) -> HandlerProgram {
        HandlerProgram(
            identifier: name, version: "\(handlers[name]?.version ?? 0)", name: name, executable: "/\(name)/run",
            folder: "/\(name)", dataFolder: nil, mode: handlers[name]?.mode ?? .perItem, timeLimit: .seconds(60),
            sandbox: .none)
    }

    func absence(of program: HandlerProgram) -> String? {
        handlers[program.identifier]?.isProgramThere == true ? nil : "its program does not exist"
    }

    func presence(of arrival: Arrival) -> ItemPresence {
        if (try? journal.isThere(arrival.number)) == false { return .left }
        if !isMounted { return .unknown }
        return missing.contains(arrival.holder) ? .gone : .there(arrival)
    }

    func fits(_ arrivals: [Arrival]) -> Bool { hasRoom }

    /// Puts a new item into the Inbox and into the journal.
    /// - Parameter holder: the arrival that stored the item, if it is only sent again.
    func arrive(
        _ transfer: TransferID, of peer: UInt8, type: String = "public.png", _ protection: ProtectionClass = .none,
        to handler: String? = nil, again holder: ArrivalNumber? = nil
    ) -> Arrival {
        let facts = ArrivalFacts(
            transfer: transfer, itemNumber: 0, itemsInOffer: 1,
            item: OfferedItem(kind: .file, name: safe("file"), type: uniform(type), size: 5), size: 5,
            digest: .of(.xxh3_128, []), peer: .sample(peer), senderName: "a test", annotation: [:],
            destination: Destination(handler: handler.map { safe($0) }, folder: nil, protection: protection))
        if let holder, let arrival = try? journal.sendAgain(facts, of: holder, isDelivered: true) { return arrival }
        guard
            let number = try? journal.intend([IntendedArrival(facts: facts, identity: nil, isDelivered: true)]).first
        else { preconditionFailure("the journal takes arrivals") }
        let stored = StoredItem(name: safe("file-\(number)"), path: "/Inbox/file-\(number)")
        try? journal.settle([(number: number, stored: stored)])
        return Arrival(number: number, facts: facts, stored: stored)
    }
}
