/// A setting of a handler, for programs.
struct HandlerSettingFields: Encodable {
    struct Choice: Encodable {
        var choice: String
        var title: String
    }

    /// The identifier of the handler.
    var handler: String
    /// The key.
    var setting: String
    var title: String?
    /// The text of its value.
    var values: [String]
    /// `default`, or the path of the file.
    var setBy: String
    /// The text of the default.
    var standard: String
    /// `text`, `truth`, `number`, `word`, or `fixed` for one that the user does not change.
    var form: String
    /// The accepted values in words.
    var accepted: String
    /// The values that can be chosen; absent for other settings.
    var choices: [Choice]?
}

/// A setting of a handler has another value.
struct HandlerSettingChangeFields: Encodable {
    var handler: String
    var setting: String
    var values: [String]
    var formerValues: [String]
}
