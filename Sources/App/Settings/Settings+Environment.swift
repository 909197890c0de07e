extension Settings.Partial {
    /// Reads the settings of the environment.
    ///
    /// Inside a hook `WAFT_NAME` is the name of the item that arrived (the hook contract), not ours: there it is passed
    /// over, so that a hook may itself run `waft send`.
    /// - Throws: `Settings.Unusable` that names the variable.
    package init(environment: [String: String]) throws(Settings.Unusable) {
        self.init()
        let isInsideHook = environment["WAFT_TRANSFER"] != nil
        for key in SettingKey.all {
            guard let text = environment[key.variable], !text.isEmpty else { continue }
            if isInsideHook, key.name == "name" { continue }
            let texts = key.isList ? text.split(separator: ",").map(String.init) : [text]
            guard key.read(texts, &self) else {
                throw Settings.Unusable(
                    description: "\(key.variable) is \"\(text.prefix(64))\" and should be \(key.expected)")
            }
            places[key.name] = key.variable
        }
    }
}
