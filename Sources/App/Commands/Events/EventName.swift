/// The names of the lines of `--json` that are cases of `EventLine`, the values of `event`.
enum EventName: String, Encodable, CaseIterable {
    case failed

    // `waft protection`, `waft unlock`, `waft lock`
    case protection, protectionExport, locking, locked, unlocked

    // `waft desk`
    case desk
}
