package import Sharing

extension NearWord {
    /// The complaint about the name of a setting that does not exist, in one clause.
    ///
    /// - Parameter command: lists all settings.
    package static func noSetting(_ name: String, among names: [String], list command: String) -> String {
        let likely = closest(to: name, among: names).map { "; did you mean \($0)? All" } ?? "; all"
        return "there is no setting \"\(Settings.shown(name))\"\(likely): \(command)"
    }
}
