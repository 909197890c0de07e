extension Settings {
    /// Reads the settings of the environment.
    ///
    /// Inside a hook `WAFT_NAME` is the name of the item that arrived (the hook contract), not ours: there it is passed
    /// over, so that a hook may itself run `waft send`.
    /// - Throws: `Settings.InvalidError` that names the variables.
    package mutating func read(environment: [String: String]) throws(InvalidError) {
        var faults: [InvalidError.Fault] = []
        let isInsideHook = environment["WAFT_TRANSFER"] != nil
        for key in SettingKey.all {
            guard let variable = key.variable, let text = environment[variable], !text.isEmpty else { continue }
            if isInsideHook, key.name == "name" { continue }
            let texts = key.kind == .list ? text.split(separator: ",").map(String.init) : [text]
            guard key.read(texts, from: variable, into: &self) else {
                faults.append(
                    InvalidError.Fault(
                        "\(variable) is \"\(Self.shown(text))\" and should be \(key.expected)"))
                continue
            }
        }
        guard faults.isEmpty else { throw InvalidError(faults) }
    }
}
