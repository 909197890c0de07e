/// The services that the consumer of a browse knows, across changes of the responder. Pure.
///
/// A new responder finds everything again. The ledger hides that from the consumer: an unchanged service causes no
/// event. A service that is not found again is reported as removed once the new responder has reported everything it
/// knows.
struct BrowseLedger {
    private var known: [String: DiscoveredService] = [:]
    private var unconfirmed: Set<String> = []

    /// A new responder begins to browse.
    mutating func beginSession() {
        unconfirmed = Set(known.keys)
    }

    mutating func update(_ service: DiscoveredService) -> BrowseEvent? {
        unconfirmed.remove(service.instance)
        guard known.updateValue(service, forKey: service.instance) != service else { return nil }
        return .updated(service)
    }

    mutating func remove(_ instance: String) -> BrowseEvent? {
        unconfirmed.remove(instance)
        return known.removeValue(forKey: instance).map { _ in .removed(instance: instance) }
    }

    /// The responder has reported everything it knows.
    mutating func endOfKnown() -> [BrowseEvent] {
        defer { unconfirmed = [] }
        return unconfirmed.sorted().compactMap { remove($0) } + [.allForNow]
    }
}
