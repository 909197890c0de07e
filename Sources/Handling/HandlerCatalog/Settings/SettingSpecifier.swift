import PropertyLists
import Sharing

/// An element of `PreferenceSpecifiers`: a dictionary in Apple's form.
struct SettingSpecifier {
    /// The meaning of a specifier.
    enum Meaning {
        case row(HandlerSettings.Row)
        /// A group: its title and the text below it.
        case group(title: String, note: String)
        /// Another file of the bundle, by its name without `.plist`.
        case pane(title: String, file: String)
    }

    /// The fault of a specifier, after its place.
    struct Fault: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    let keys: [String: PropertyList]
    /// Titles in the user's language, by the titles of the file.
    let texts: [String: String]

    func meaning() throws(Fault) -> Meaning {
        guard let type = keys["Type"]?.string, !type.isEmpty else { throw Fault("has no Type") }
        let title = text("Title")
        switch type {
        case "PSGroupSpecifier": return .group(title: title, note: text("FooterText"))
        case "PSChildPaneSpecifier": return .pane(title: title, file: try file())
        case "PSToggleSwitchSpecifier": return try setting(title) { () throws(Fault) in try toggle() }
        case "PSTextFieldSpecifier":
            let isSecure = keys["IsSecure"]?.truth ?? false
            return try setting(title) { () throws(Fault) in (.text(isSecure: isSecure), try standard() ?? .text("")) }
        case "PSSliderSpecifier": return try setting(title) { () throws(Fault) in try slider() }
        case "PSMultiValueSpecifier", "PSRadioGroupSpecifier":
            return try setting(title) { () throws(Fault) in
                let choices = try choices()
                guard let first = choices.first else { throw Fault("has no Values") }
                return (.choice(choices), try standard() ?? first.value)
            }
        case "PSTitleValueSpecifier":
            return try setting(title) { () throws(Fault) in (.title(try choices()), try standard() ?? .text("")) }
        default:
            let type = shortened(type)
            guard keys["Key"] != nil, let value = keys["DefaultValue"].flatMap({ HandlerSettingValue($0) }) else {
                return .row(.unknown(type: type, title: title))
            }
            return try setting(title) { () throws(Fault) in (.unknown(type: type), value) }
        }
    }

    // MARK: Settings

    private func setting(
        _ title: String, _ read: () throws(Fault) -> (HandlerSetting.Form, HandlerSettingValue)
    ) throws(Fault) -> Meaning {
        guard let key = keys["Key"]?.string, !key.isEmpty else { throw Fault("has no Key") }
        guard key.utf8.count <= CatalogLimits.settingKeyBytes, key.unicodeScalars.allSatisfy(ShownText.isPrintable)
        else { throw Fault("its Key is longer than \(CatalogLimits.settingKeyBytes) bytes, or cannot be shown") }
        let (form, standard) = try read()
        let setting = HandlerSetting(key: key, title: title, form: form, standard: standard)
        guard !setting.canChange || setting.accepts(standard) else {
            throw Fault("its DefaultValue should be \(setting.expected.prefix(200))")
        }
        return .row(.setting(setting))
    }

    private func toggle() throws(Fault) -> (HandlerSetting.Form, HandlerSettingValue) {
        let on = try value("TrueValue") ?? .truth(true)
        let off = try value("FalseValue") ?? .truth(false)
        guard on != off else { throw Fault("its TrueValue and FalseValue are the same") }
        guard let standard = try standard() else { return (.toggle(on: on, off: off), off) }
        // Many bundles have a truth or a number as the default of values that are texts.
        let isOther = standard != on && standard != off
        let truth = isOther ? keys["DefaultValue"]?.truth : nil
        return (.toggle(on: on, off: off), truth.map { $0 ? on : off } ?? standard)
    }

    private func slider() throws(Fault) -> (HandlerSetting.Form, HandlerSettingValue) {
        guard let minimum = try value("MinimumValue")?.number, let maximum = try value("MaximumValue")?.number,
            minimum <= maximum, let least = HandlerSettingValue(number: minimum)
        else { throw Fault("its MinimumValue and MaximumValue should be numbers, in this order") }
        return (.number(minimum...maximum), try standard() ?? least)
    }

    private func choices() throws(Fault) -> [HandlerSetting.Choice] {
        let values = try list("Values") { HandlerSettingValue($0) }
        let titles = try list("Titles") { $0.string.map { localized($0) } }
        guard titles.isEmpty || titles.count == values.count else {
            throw Fault("has \(values.count) Values and \(titles.count) Titles")
        }
        return values.enumerated().map { index, value in
            HandlerSetting.Choice(value: value, title: titles.isEmpty ? shortened(value.text) : titles[index])
        }
    }

    // MARK: Values

    private func standard() throws(Fault) -> HandlerSettingValue? { try value("DefaultValue") }

    /// Nil if the key is missing.
    private func value(_ key: String) throws(Fault) -> HandlerSettingValue? {
        guard let found = keys[key] else { return nil }
        if let value = HandlerSettingValue(found) { return value }
        throw Fault(
            "its \(key) should be text, a number or a truth, of at most \(CatalogLimits.settingValueBytes) bytes")
    }

    /// Empty if the key is missing.
    private func list<Element>(
        _ key: String, _ read: (PropertyList) -> Element?
    ) throws(Fault) -> [Element] {
        guard let found = keys[key] else { return [] }
        guard let elements = found.array else { throw Fault("its \(key) should be a list, but is \(found.kind)") }
        guard elements.count <= CatalogLimits.settingChoices else {
            throw Fault("has more than \(CatalogLimits.settingChoices) \(key)")
        }
        let values = elements.compactMap(read)
        guard values.count == elements.count else { throw Fault("its \(key) have an element that cannot be used") }
        return values
    }

    /// The name of a file beside this one. A path could lead out of the bundle.
    private func file() throws(Fault) -> String {
        guard let name = keys["File"]?.string, (try? SafeName(name)) != nil, !name.hasPrefix("."),
            name.utf8.count <= CatalogLimits.settingKeyBytes
        else { throw Fault("its File should be the name of a file in Settings.bundle, without .plist") }
        return name
    }

    private func text(_ key: String) -> String { keys[key]?.string.map { localized($0) } ?? "" }

    private func localized(_ text: String) -> String { shortened(texts[text] ?? text) }

    private func shortened(_ text: String) -> String { String(text.prefix(CatalogLimits.settingTitleCharacters)) }
}
