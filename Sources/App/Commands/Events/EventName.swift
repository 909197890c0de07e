/// The names of the lines of `--json` that are cases of `EventLine`, the values of `event`.
enum EventName: String, Encodable, CaseIterable {
    case failed

    // `waft desk`
    case desk
}
