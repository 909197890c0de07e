import Sharing

/// The questions that the ledger of deliveries asks its surroundings, answered at once.
protocol DeliveryFacts {
    /// For records.
    var now: WallTime { get }
    /// Time since a fixed moment.
    var uptime: Duration { get }
    /// Whether an item of this protection can be opened now.
    func canOpen(_ protection: ProtectionClass) -> Bool
    func arrival(_ number: ArrivalNumber) -> JournalledArrival
    /// The facts for the choice of a handler.
    func subject(_ arrival: Arrival) -> HandlerChoice.Subject
    /// The handlers for an item, in the order of the calls.
    func candidates(for subject: HandlerChoice.Subject) -> [HandlerChoice.Candidate]
    /// Why a program cannot be started now, because something of it is missing; nil if it can. One line.
    func absence(of program: HandlerProgram) -> String?
    /// Whether the item of an arrival is in the Inbox.
    func presence(of arrival: Arrival) -> ItemPresence
    /// Whether there is room for the clear copies of all of these at once.
    func fits(_ arrivals: [Arrival]) -> Bool
}

/// An arrival, as the journal has it.
enum JournalledArrival {
    case there(Arrival)
    /// The journal has no such arrival.
    case none
    /// The journal cannot read it now.
    case unreadable

    var arrival: Arrival? {
        if case .there(let arrival) = self { arrival } else { nil }
    }
}

/// Whether an item is in the Inbox.
enum ItemPresence: Hashable, Sendable {
    /// With its present place.
    case there(Arrival)
    /// The journal records that it has left.
    case left
    /// It is missing.
    case gone
    /// The disk of the Inbox is not mounted: the item may still exist.
    case unknown
}
