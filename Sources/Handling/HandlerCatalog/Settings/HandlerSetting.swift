/// A setting that a handler's `Settings.bundle` declares: a specifier with a key.
package struct HandlerSetting: Hashable, Sendable {
    /// A value that can be chosen.
    package struct Choice: Hashable, Sendable {
        package let value: HandlerSettingValue
        /// Foreign text.
        package let title: String
    }

    /// The accepted values.
    package enum Form: Hashable, Sendable {
        /// `PSToggleSwitchSpecifier`, with its `TrueValue` and `FalseValue`.
        case toggle(on: HandlerSettingValue, off: HandlerSettingValue)
        /// `PSTextFieldSpecifier`.
        case text(isSecure: Bool)
        /// `PSSliderSpecifier`.
        case number(ClosedRange<Double>)
        /// `PSMultiValueSpecifier` and `PSRadioGroupSpecifier`; at least one.
        case choice([Choice])
        /// `PSTitleValueSpecifier`: the user does not change it. The choices are names of values, and may be missing.
        case title([Choice])
        /// A type of specifier that Waft does not know. It is shown, and not changed.
        case unknown(type: String)
    }

    /// 1...`CatalogLimits.settingKeyBytes` bytes, plainly printable.
    package let key: String
    /// Foreign text; empty if there is none.
    package let title: String
    package let form: Form
    /// `DefaultValue`, which the form accepts.
    package let standard: HandlerSettingValue

    /// Whether the user can change it.
    package var canChange: Bool {
        switch form {
        case .toggle, .text, .number, .choice: true
        case .title, .unknown: false
        }
    }

    /// Whether a stored value is one of this setting.
    package func accepts(_ value: HandlerSettingValue) -> Bool {
        switch form {
        case .toggle(let on, let off): value == on || value == off
        case .text: if case .text = value { true } else { false }
        case .number(let range): value.number.map(range.contains) ?? false
        case .choice(let choices): choices.contains { $0.value == value }
        case .title, .unknown: false
        }
    }

    /// The value that a person has typed: a choice also by its title, a switch also as true or false.
    ///
    /// - Returns: nil if the setting does not accept it.
    package func value(typed text: String) -> HandlerSettingValue? {
        switch form {
        case .toggle(let on, let off):
            if text == on.text { return on }
            if text == off.text { return off }
            switch text.lowercased() {
            case "true", "yes", "on", "1": return on
            case "false", "no", "off", "0": return off
            default: return nil
            }
        case .text: return HandlerSettingValue(text: text)
        case .number:
            let number =
                Int64(text).map { .integer($0) } ?? Double(text).flatMap { HandlerSettingValue(number: $0) }
            return number.flatMap { accepts($0) ? $0 : nil }
        case .choice(let choices):
            let choice =
                choices.first { $0.value.text == text } ?? choices.first { $0.title == text }
                ?? choices.first { $0.title.lowercased() == text.lowercased() }
            return choice?.value
        case .title, .unknown: return nil
        }
    }

    /// The values that can be chosen, or that have names.
    package var choices: [Choice] {
        switch form {
        case .choice(let choices), .title(let choices): choices
        case .toggle, .text, .number, .unknown: []
        }
    }

    /// Choices that are named in a line.
    private static let namedChoices = 16

    /// The accepted values, in words that follow "should be". Foreign text.
    package var expected: String {
        switch form {
        case .toggle(.truth(true), .truth(false)): return "true or false"
        case .toggle(let on, let off): return "\(on.text) or \(off.text)"
        case .text: return "text of at most \(CatalogLimits.settingValueBytes) bytes"
        case .number(let range):
            let ends = [range.lowerBound, range.upperBound].map { HandlerSettingValue(number: $0)?.text ?? "" }
            return "a number, \(ends[0]) to \(ends[1])"
        case .choice(let choices):
            let words = choices.prefix(Self.namedChoices).map { choice in
                choice.title == choice.value.text ? choice.title : "\(choice.value.text) (\(choice.title))"
            }
            let more = choices.count > words.count ? ", and \(choices.count - words.count) more" : ""
            return "one of " + words.joined(separator: ", ") + more
        case .title: return "as the handler has it: it is only shown"
        case .unknown(let type): return "as the handler has it: Waft does not know \(type)"
        }
    }
}
