/// A setting: its name, how its text is read and written, and its description. Everything that reads or lists settings
/// takes them from the table `groups`: the file, the environment, the template, the help and the article's list.
package struct SettingKey: Sendable {
    /// Its key in `config.yaml`, with dots between the keys of nested mappings.
    package let name: String
    /// Its environment variable; nil for a setting that only the file can have.
    package let variable: String?
    /// Its command line option, such as `--port`; nil if there is none.
    package let flag: String?
    /// The kind of its values.
    package let kind: SettingKind
    /// The accepted values, in words that follow "should be".
    package let expected: String
    /// The unit of its values; nil for values that are no amounts.
    package let unit: SettingUnit?
    /// Each of its words with its meaning in a line; empty for a setting of another kind.
    package let meanings: [(word: String, line: String)]
    /// Its meaning: a sentence without its full stop.
    package let summary: String
    /// The rest of that sentence after a colon: the meaning of the values.
    package let detail: String?
    /// More sentences about it. A line that begins with a space is not wrapped.
    package let note: String?
    /// The default in words, if it has no value that could stand in the file.
    package let otherwise: String?
    /// A value for the template, if that should not show the default.
    package let example: String?

    private let path: any PartialKeyPath<Settings> & Sendable
    private let store: @Sendable ([String], inout Settings) -> Bool
    private let load: @Sendable (Settings) -> String?
    private let move: @Sendable (Settings, inout Settings) -> Void
    private let isSame: @Sendable (Settings, Settings) -> Bool

    /// - Parameters:
    ///   - path: the property with its value.
    ///   - form: reads and writes its text.
    init<Value: Equatable>(
        _ name: String,
        _ path: any WritableKeyPath<Settings, Value> & Sendable,
        _ form: SettingForm<Value>,
        variable: String? = nil,
        flag: String? = nil,
        _ summary: String,
        detail: String? = nil,
        note: String? = nil,
        otherwise: String? = nil,
        example: String? = nil,
        meanings: KeyValuePairs<String, String> = [:]
    ) {
        (self.name, self.variable, self.flag) = (name, variable, flag)
        (kind, expected, unit) = (form.kind, form.expected, form.unit)
        self.meanings = meanings.map { ($0.key, $0.value) }
        (self.summary, self.detail, self.note) = (summary, detail, note)
        (self.otherwise, self.example) = (otherwise, example)
        self.path = path
        store = { texts, settings in
            guard let value = form.read(texts) else { return false }
            settings[keyPath: path] = value
            return true
        }
        load = { form.write($0[keyPath: path]) }
        move = { $1[keyPath: path] = $0[keyPath: path] }
        isSame = { $0[keyPath: path] == $1[keyPath: path] }
    }

    /// All settings, in the order of the template.
    package static let all = groups.flatMap(\.self)

    /// The row of a property, which must be in the table.
    package static func of(_ path: PartialKeyPath<Settings>) -> SettingKey {
        guard let key = all.first(where: { $0.path == path }) else { preconditionFailure("a setting without a row") }
        return key
    }

    /// Whether it is one of nested mappings.
    package var isNested: Bool { name.contains(".") }

    /// Its default in words: the value, or a description of it.
    package var standard: String { otherwise ?? text(of: Settings(hostName: "")) ?? "none" }

    /// Its meaning in a sentence, for the help.
    package var help: String { summary + (detail.map { ": \($0)" } ?? "") + "." }

    /// Its value as text of `config.yaml`; nil for a value that cannot be written.
    package func text(of settings: Settings) -> String? { load(settings) }

    /// Sets the value that the texts of one source have.
    ///
    /// - Parameter texts: one text, or several for a list.
    /// - Returns: false for texts that are no value of this setting.
    func read(_ texts: [String], from place: String, into settings: inout Settings) -> Bool {
        guard store(texts, &settings) else { return false }
        settings.places[name] = place
        return true
    }

    /// Copies its value and the source of it.
    func copy(from settings: Settings, to others: inout Settings) {
        move(settings, &others)
        others.places[name] = settings.places[name]
    }

    /// Whether it has the same value in both.
    package func isSame(in settings: Settings, and others: Settings) -> Bool { isSame(settings, others) }

    /// Whether texts are a value of this setting. A list has several.
    package func takes(_ texts: [String]) -> Bool {
        var settings = Settings(hostName: "")
        return store(texts, &settings)
    }

    /// The texts of its value: those of a list, or one; none for a value that has no text.
    package func texts(of settings: Settings) -> [String] {
        guard let text = text(of: settings) else { return [] }
        guard kind == .list else { return [text] }
        return text.dropFirst().dropLast().split(separator: ",").map { $0.trimmingPrefix(" ") }.map(String.init)
    }
}
