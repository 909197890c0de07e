import Discovery
package import Logging
package import Sharing

/// What can be set, after flags, environment, `config.yaml` and defaults have been asked in that order.
package struct Settings: Sendable {
    /// What this peer calls itself.
    package var name: String
    /// The port to listen on; nil: the usual one, or any when that is taken.
    package var port: UInt16?
    package var accept: AcceptRule
    /// Path of the hook.
    package var hook: String?
    package var hookTimeout: Duration
    /// Whether to publish, and to find others by mDNS.
    package var discovery: Bool
    /// Patterns of interface names that are not published on, nor believed.
    package var skipInterfaces: [String]
    package var logLevel: Logger.Level

    var denied: InterfacePatterns { InterfacePatterns(skipInterfaces) }

    /// A setting that cannot be what it is: one line with the place, the value and what would do.
    package struct Unusable: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// What one source says; nil where it says nothing.
    package struct Partial: Sendable, Equatable {
        package var name: String?
        package var port: UInt16?
        package var accept: AcceptRule?
        package var hook: String?
        package var hookTimeout: Duration?
        package var discovery: Bool?
        package var skipInterfaces: [String]?
        package var logLevel: Logger.Level?

        package init() {}
    }

    /// - Parameters:
    ///   - sources: those asked first come first.
    ///   - hostName: the default for `name`.
    package init(_ sources: [Partial], hostName: String) {
        func first<Value>(_ value: (Partial) -> Value?) -> Value? { sources.lazy.compactMap(value).first }
        name = PeerName.fit(first(\.name) ?? hostName)
        port = first(\.port)
        accept = first(\.accept) ?? .ask
        hook = first(\.hook)
        hookTimeout = first(\.hookTimeout) ?? .seconds(60)
        discovery = first(\.discovery) ?? true
        skipInterfaces = first(\.skipInterfaces) ?? InterfacePatterns.virtual.patterns
        logLevel = first(\.logLevel) ?? .notice
    }
}

/// One setting: where it stands, and how its text is read. The one table that file and environment share.
struct SettingKey: Sendable {
    /// In `config.yaml`.
    let name: String
    /// In the environment.
    let variable: String
    /// Reads a scalar, or several of a list.
    /// - Returns: nil when that is no value for this setting.
    let read: @Sendable ([String], inout Settings.Partial) -> Bool
    /// What would do, for the message.
    let expected: String

    static let all: [SettingKey] = [
        SettingKey("name", "WAFT_NAME", expected: "1 to 63 bytes of text") { text, partial in
            guard (1...Limits.peerNameBytes).contains(text.utf8.count), PeerName.fit(text) == text else { return false }
            partial.name = text
            return true
        },
        SettingKey("port", "WAFT_PORT", expected: "a port number, 1 to 65535") { text, partial in
            guard let port = UInt16(text), port > 0 else { return false }
            partial.port = port
            return true
        },
        SettingKey("accept", "WAFT_ACCEPT", expected: "ask, everyone or none") { text, partial in
            guard let rule = AcceptRule(rawValue: text) else { return false }
            partial.accept = rule
            return true
        },
        SettingKey("hook", "WAFT_HOOK", expected: "the path of an executable") { text, partial in
            partial.hook = text
            return !text.isEmpty
        },
        SettingKey("hookTimeout", "WAFT_HOOK_TIMEOUT", expected: "seconds, 1 to 86400") { text, partial in
            guard let seconds = Int(text), (1...86_400).contains(seconds) else { return false }
            partial.hookTimeout = .seconds(seconds)
            return true
        },
        SettingKey("discovery", "WAFT_DISCOVERY", expected: "true or false") { text, partial in
            switch text.lowercased() {
            case "true", "yes", "on", "1": partial.discovery = true
            case "false", "no", "off", "0": partial.discovery = false
            default: return false
            }
            return true
        },
        SettingKey(
            name: "skipInterfaces", variable: "WAFT_SKIP_INTERFACES",
            read: { texts, partial in
                partial.skipInterfaces = texts
                return texts.allSatisfy { !$0.isEmpty && $0.utf8.count <= 64 }
            }, expected: "a list of interface names or patterns, such as [docker*, wg0]"),
        SettingKey("logLevel", "WAFT_LOG_LEVEL", expected: "debug, info, notice, warning or error") { text, partial in
            guard let level = Logger.Level(rawValue: text) else { return false }
            partial.logLevel = level
            return true
        },
    ]

    private init(
        name: String,
        variable: String,
        read: @escaping @Sendable ([String], inout Settings.Partial) -> Bool,
        expected: String
    ) {
        self.name = name
        self.variable = variable
        self.read = read
        self.expected = expected
    }

    /// A setting with one value.
    private init(
        _ name: String,
        _ variable: String,
        expected: String,
        _ read: @escaping @Sendable (String, inout Settings.Partial) -> Bool
    ) {
        self.init(
            name: name, variable: variable,
            read: { texts, partial in texts.count == 1 && read(texts[0], &partial) },
            expected: expected)
    }
}
