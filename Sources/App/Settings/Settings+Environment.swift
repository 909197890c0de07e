extension Settings {
    /// Reads the settings of the environment.
    ///
    /// Inside a hook `WAFT_NAME` is the name of the item that arrived (the hook contract), not ours: there it is passed
    /// over, so that a hook may itself run `waft send`.
    /// - Throws: `Settings.InvalidError` that names the variable.
    package mutating func read(environment: [String: String]) throws(InvalidError) {
        let isInsideHook = environment["WAFT_TRANSFER"] != nil
        for key in SettingKey.all {
            guard let variable = key.variable, let text = environment[variable], !text.isEmpty else { continue }
            if isInsideHook, key.name == "name" { continue }
            let texts = key.kind == .list ? text.split(separator: ",").map(String.init) : [text]
            guard key.read(texts, from: variable, into: &self) else {
                throw InvalidError(description: "\(variable) is \"\(text.prefix(64))\" and should be \(key.expected)")
            }
        }
    }
}
