/// What the consumer of a browse has been told, over one responder after another. Pure.
///
/// When a responder is lost and another one takes over, everything is found anew. The consumer does not see that: what is
/// found again unchanged is not told again, and what is not found again is told as removed once the new responder has
/// said everything it knows.
struct BrowseLedger {
    private var known: [String: DiscoveredService] = [:]
    private var unconfirmed: Set<String> = []

    /// A responder begins to look.
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

    /// The responder has said everything it knows.
    mutating func endOfKnown() -> [BrowseEvent] {
        defer { unconfirmed = [] }
        return unconfirmed.sorted().compactMap { remove($0) } + [.allForNow]
    }
}
