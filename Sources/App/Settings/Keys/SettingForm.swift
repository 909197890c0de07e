import Contacts
import Discovery
import HandlerCatalog
import Inbox
import Logging
import Sharing
import UniformTypes

/// The unit of a setting's numbers.
package enum SettingUnit: String, Sendable {
    case seconds
    /// Bytes, or a size such as 20 GB.
    case bytes
    /// A time such as 12h.
    case time
}

/// The kind of a setting's values.
package enum SettingKind: Sendable, Equatable {
    case text
    case truth
    case number(ClosedRange<Int>)
    case words([String])
    /// A list in the file, values between commas in the environment.
    case list
    /// The list of rules for offers.
    case rules
}

/// Reads the text of a setting and writes it.
struct SettingForm<Value: Sendable>: Sendable {
    let kind: SettingKind
    /// The accepted values, in words that follow "should be".
    let expected: String
    /// Nil for values that are no amounts.
    let unit: SettingUnit?
    /// Nil for texts that are no value.
    let read: @Sendable ([String]) -> Value?
    /// Nil for a value that has no text.
    let write: @Sendable (Value) -> String?

    init(
        _ kind: SettingKind,
        _ expected: String,
        unit: SettingUnit? = nil,
        read: @escaping @Sendable ([String]) -> Value?,
        write: @escaping @Sendable (Value) -> String?
    ) {
        (self.kind, self.expected, self.unit, self.read, self.write) = (kind, expected, unit, read, write)
    }

    /// A setting with one value.
    static func single(
        _ kind: SettingKind,
        _ expected: String,
        unit: SettingUnit? = nil,
        read: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String?
    ) -> Self {
        SettingForm(kind, expected, unit: unit, read: { $0.count == 1 ? read($0[0]) : nil }, write: write)
    }

    /// - Parameter values: each word with its value.
    static func words(_ values: KeyValuePairs<String, Value>) -> Self where Value: Equatable {
        words(values.map { ($0.key, $0.value) })
    }

    private static func words(_ values: [(word: String, value: Value)]) -> Self where Value: Equatable {
        let words = values.map(\.word)
        return .single(
            .words(words), words.dropLast().joined(separator: ", ") + " or " + (words.last ?? ""),
            read: { text in values.first { $0.word == text }?.value },
            write: { value in values.first { $0.value == value }?.word })
    }
}

extension SettingForm where Value: RawRepresentable<String> & CaseIterable & Equatable {
    /// All cases of an enumeration.
    static var word: Self { words(Value.allCases.map { ($0.rawValue, $0) }) }
}

extension SettingForm where Value == String {
    /// A name that other peers show.
    static var name: Self {
        single(
            .text, "1 to \(Limits.peerNameBytes) bytes of text",
            read: { text in
                (1...Limits.peerNameBytes).contains(text.utf8.count) && PeerName.fit(text) == text ? text : nil
            },
            write: { $0 })
    }
}

extension SettingForm where Value == String? {
    static var absolutePath: Self {
        single(.text, "an absolute path", read: { PathText.isAbsolute($0) ? .some($0) : .none }, write: { $0 })
    }

    static var executable: Self {
        single(.text, "the path of an executable", read: { $0.isEmpty ? .none : .some($0) }, write: { $0 })
    }
}

extension SettingForm where Value == Bool {
    static var truth: Self {
        single(
            .truth, "true or false",
            read: { text in
                switch text.lowercased() {
                case "true", "yes", "on", "1": true
                case "false", "no", "off", "0": false
                default: nil
                }
            },
            write: { String($0) })
    }
}

extension SettingForm where Value == UInt16? {
    static var port: Self {
        single(
            .number(1...65_535), "a port number, 1 to 65535",
            read: { text in
                guard let port = UInt16(text), port > 0 else { return .none }
                return .some(port)
            },
            write: { $0.map { String($0) } })
    }
}

extension SettingForm where Value == Int {
    static var portNumber: Self {
        single(
            .number(1...65_535), "a port number, 1 to 65535",
            read: { text in Int(text).flatMap { (1...65_535).contains($0) ? $0 : nil } }, write: { String($0) })
    }
}

extension SettingForm where Value == String? {
    /// A PIN that people type.
    static var pin: Self {
        single(
            .text, "4 to 32 digits",
            read: { text in
                (4...32).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
                    ? .some(text) : .none
            },
            write: { $0 })
    }
}

extension SettingForm where Value == UInt64 {
    static func size(_ expected: String) -> Self {
        single(
            .text, expected, unit: .bytes, read: { try? ByteCountText.read($0) }, write: { ByteCountText.text($0) })
    }
}

extension SettingForm where Value == DiskReserve {
    static var reserve: Self {
        single(
            .text, "a size such as 2 GB, or a share such as 5 %", unit: .bytes,
            read: { text in
                guard text.hasSuffix("%") else { return (try? ByteCountText.read(text)).map { .bytes($0) } }
                let number = text.dropLast().filter { $0 != " " }
                guard number.utf8.count <= 3, let percent = UInt64(number), percent <= 100 else { return nil }
                return .percent(percent)
            },
            write: { reserve in
                switch reserve {
                case .standard: nil
                case .bytes(let bytes): ByteCountText.text(bytes)
                case .percent(let percent): "\(percent) %"
                }
            })
    }
}

extension SettingForm where Value == Duration {
    /// - Parameter bounds: in seconds.
    static func seconds(_ bounds: ClosedRange<Int>) -> Self {
        single(
            .number(bounds), "seconds, \(bounds.lowerBound) to \(bounds.upperBound)", unit: .seconds,
            read: { text in Int(text).flatMap { bounds.contains($0) ? .seconds($0) : nil } },
            write: { String($0.components.seconds) })
    }

    static var duration: Self {
        single(
            .text, "a time such as 7d or 12h", unit: .time, read: { try? DurationText.read($0) },
            write: { DurationText.text($0) })
    }
}

extension SettingForm where Value == Duration? {
    static var durationOrOff: Self {
        single(
            .text, "a time such as 15m, or off", unit: .time,
            // A truth value of YAML.
            read: { ["off", "false"].contains($0) ? .some(nil) : (try? DurationText.read($0)).map { .some($0) } },
            write: { $0.map { DurationText.text($0) } ?? "off" })
    }
}

extension SettingForm where Value == UInt64? {
    /// A size, for a default that no size can say.
    static var sizeOrNone: Self {
        single(
            .text, "a size such as 500 MB", unit: .bytes, read: { (try? ByteCountText.read($0)).map { .some($0) } },
            write: { $0.map { ByteCountText.text($0) } })
    }
}

extension SettingForm where Value == [String] {
    static func list(_ expected: String, of isValue: @escaping @Sendable ([String]) -> Bool) -> Self {
        SettingForm(.list, expected, read: { isValue($0) ? $0 : nil }, write: { "[\($0.joined(separator: ", "))]" })
    }

    static func paths(_ expected: String) -> Self {
        list(expected) { $0.count <= CatalogLimits.namedPaths && $0.allSatisfy { PathText.isAbsolute($0) } }
    }

    static var variables: Self {
        list(
            "a list of at most \(ProgramVariables.maximumNames) names of variables, such as [HTTPS_PROXY], and none that changes code"
        ) {
            $0.count <= ProgramVariables.maximumNames && $0.allSatisfy { ProgramVariables.flaw(of: $0) == nil }
        }
    }

    static var interfaces: Self {
        list("a list of interface names or patterns, such as [docker*, wg0]") { names in
            names.allSatisfy { !$0.isEmpty && $0.utf8.count <= 64 }
        }
    }
}

extension SettingForm where Value == [String] {
    static var domains: Self {
        list("a list of at most \(DiscoveryLimits.domains) domains, such as [example.org], or [] for none") { names in
            names.count <= DiscoveryLimits.domains && names.allSatisfy { DomainBrowser.isDomain($0) }
        }
    }
}

extension SettingForm where Value == [String] {
    static var activities: Self {
        list("a list of types of activities, such as [org.waft.activity.print], or [] for none") { types in
            types.count <= 64 && types.allSatisfy { UniformType($0) != nil }
        }
    }
}

extension SettingForm where Value == [URLScheme] {
    /// Of the built-in schemes only those of the web are opened for a stranger.
    static var openedSchemes: Self {
        SettingForm(
            .list, "a list of http, https and schemes of handlers, without colons, such as [https]",
            read: { texts in
                let schemes = texts.compactMap { URLScheme($0) }
                let areOpened = schemes.allSatisfy { !$0.isBuiltIn || ["http", "https"].contains($0.text) }
                return schemes.count == texts.count && areOpened ? schemes : nil
            },
            write: { "[\($0.map(\.text).joined(separator: ", "))]" })
    }
}

extension SettingForm where Value == Logger.Level {
    static var logLevel: Self {
        single(
            .words(["debug", "info", "notice", "warning", "error"]), "debug, info, notice, warning or error",
            read: { Value(rawValue: $0) }, write: { $0.rawValue })
    }
}

extension SettingForm where Value == Policy {
    /// Rules are more than texts can say: `PolicyReader` reads them.
    static var rules: Self {
        SettingForm(.rules, "a list of rules", read: { _ in nil }, write: { _ in nil })
    }
}
