import Foundation

/// A ledger in its surroundings, which `brokenStory` sends events in random orders.
///
/// The surroundings are a model: the disk, the journal, peers, handlers, users and clocks, as far as the ledger hears of
/// them. They also keep a record of their own of the promises: the items, the calls and the answers.
package protocol OrderedWorld {
    /// Lets one event happen that may happen now.
    /// - Returns: the event, for the story of a fault.
    mutating func step(_ dice: inout SeededNumbers) -> String

    /// Lets all end that is under way: no new work comes, faults are over, each time passes, and all that was asked is
    /// answered.
    mutating func settle(_ dice: inout SeededNumbers)

    /// The promises that are broken now, a sentence each. Asked for after each event.
    func brokenPromises() -> [String]

    /// The promises that are broken after `settle`: what was lost, and what waits for ever.
    func brokenAtRest() -> [String]
}

/// Plays random orders of events.
///
/// Equal seeds give equal stories. The environment's `WAFT_ORDERS` gives another number of orders, for a long search.
/// - Parameters:
///   - orders: how many; their seeds are 1 and following.
///   - steps: the most events of an order; the orders have all lengths up to it.
///   - world: the surroundings before the first event; the seed is for names that must differ.
/// - Returns: the shortest story in which a promise is broken; nil if all are kept.
package func brokenStory<World: OrderedWorld>(
    _ orders: UInt64 = 300, steps: Int = 60, of world: (_ seed: UInt64) throws -> World
) rethrows -> String? {
    let orders = ProcessInfo.processInfo.environment["WAFT_ORDERS"].flatMap { UInt64($0) } ?? orders
    var shortest: (seed: UInt64, story: [String], broken: [String])?
    for seed in 1...max(1, orders) {
        var dice = SeededNumbers(seed: seed)
        var world = try world(seed)
        var story: [String] = []
        var broken: [String] = []
        let length = Int.random(in: 1...max(1, steps), using: &dice)
        while story.count < length, broken.isEmpty {
            story.append(world.step(&dice))
            broken = world.brokenPromises()
        }
        if broken.isEmpty {
            story.append("all that is under way ends")
            world.settle(&dice)
            broken = world.brokenPromises() + world.brokenAtRest()
        }
        if !broken.isEmpty, story.count < shortest?.story.count ?? .max { shortest = (seed, story, broken) }
    }
    guard let shortest else { return nil }
    let events = shortest.story.enumerated().map { "\($0 + 1). \($1)" }
    return "\(shortest.broken.joined(separator: "; ")); seed \(shortest.seed):\n\(events.joined(separator: "\n"))"
}
