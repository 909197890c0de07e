/// The names of the lines of `--json` that are cases of `EventLine`, the values of `event`.
enum EventName: String, Encodable, CaseIterable {
    case failed

    // `waft handlers`
    case handler, problem, handlerRemoved, `default`, handlerDecision, schemeDecision
    case handlerSetting, handlerSettingChanged

    // `waft protection`, `waft unlock`, `waft lock`
    case protection, protectionExport, locking, locked, unlocked

    // `waft desk`
    case desk
}
