package import Contacts
package import Discovery
package import HandlerCatalog
package import Inbox
package import Logging
import Outbox
package import Sharing

/// The settings, from flags, environment, `config.yaml` and defaults, in that order.
package struct Settings: Sendable {
    /// The name that this peer gives itself.
    package var name: String
    /// The port to listen on; nil: the usual one, or any when that is taken.
    package var port: UInt16?
    package var accept: AcceptRule
    /// The rules for offers; only the file can set them.
    package var policy: Policy
    /// Path of the hook.
    package var hook: String?
    package var hookTimeout: Duration
    /// Whether the hook is restricted as handlers are.
    package var hookIsSandboxed: Bool
    /// Absolute paths that a restricted hook may read and write, besides those of every handler.
    package var hookReadable: [String]
    package var hookWritable: [String]
    /// Whether the hook may use the network, and connect to Unix sockets.
    package var hookNetwork: Bool
    package var hookSockets: Bool
    /// Which types can be sent here.
    package var eligibility: EligibilityRule
    /// Schemes of received URLs that are opened, and not only stored.
    package var openReceivedURLs: [URLScheme]
    /// Whether a handler with a sandbox may not run if the kernel cannot enforce the sandbox.
    package var requiresSandbox: Bool
    /// Path of the program that answers offers.
    package var arbiter: String?
    /// Whether offers are shown on the desktop.
    package var notifications: Bool
    /// Path of the program that gets the outcomes of jobs in the outbox.
    package var outboxHook: String?
    /// Bytes that copies in the outbox may have.
    package var outboxQuota: UInt64
    /// Whether the machine is kept from going to sleep while something is being sent or received.
    package var inhibitsSleep: Bool
    /// Whether to publish, and to find others by mDNS.
    package var discovery: Bool
    /// Patterns of interface names that are not published on, nor believed.
    package var skipInterfaces: [String]
    /// The part of the Inbox's disk that stays free.
    package var reserve: DiskReserve
    /// Bytes in the Inbox from one stranger; 0 for no bound.
    package var strangerQuota: UInt64
    package var conflict: ConflictRule
    /// Bounds for the kept parts of interrupted items.
    package var partials: PartialBounds
    package var logLevel: Logger.Level
    /// AirDrop; the file alone can say it.
    package var airdrop: AirDropSettings
    /// Where each setting was found: `PATH, line N`, or the name of a variable.
    private let places: [String: String]

    /// A line about a setting that turned out to be unusable, with the place of the setting before it.
    package func line(about setting: String, _ reason: String) -> String {
        places[setting].map { "\($0): \(reason)" } ?? reason
    }

    package var denied: InterfacePatterns { InterfacePatterns(skipInterfaces) }

    /// Rules for the hook. The outbox hook and the arbiter have the same permissions, but the arbiter may not write.
    package var hookRules: LaunchRules {
        LaunchRules(
            sandbox: hookIsSandboxed ? .strict : .none, readablePaths: hookReadable, writablePaths: hookWritable,
            allowsNetwork: hookNetwork, allowsSockets: hookSockets, timeout: hookTimeout)
    }

    /// A setting with an unusable value: one line with the place, the value and the accepted values.
    package struct Unusable: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// The values of one source; nil for those that it does not set.
    package struct Partial: Sendable, Equatable {
        package var name: String?
        package var port: UInt16?
        package var accept: AcceptRule?
        package var policy: Policy?
        package var hook: String?
        package var hookTimeout: Duration?
        package var hookIsSandboxed: Bool?
        package var hookReadable: [String]?
        package var hookWritable: [String]?
        package var hookNetwork: Bool?
        package var hookSockets: Bool?
        package var eligibility: EligibilityRule?
        package var openReceivedURLs: [URLScheme]?
        package var requiresSandbox: Bool?
        package var arbiter: String?
        package var notifications: Bool?
        package var outboxHook: String?
        package var outboxQuota: UInt64?
        package var inhibitsSleep: Bool?
        package var discovery: Bool?
        package var skipInterfaces: [String]?
        package var reserve: DiskReserve?
        package var strangerQuota: UInt64?
        package var conflict: ConflictRule?
        package var partialLifetime: Duration?
        package var partialQuota: UInt64?
        package var logLevel: Logger.Level?
        package var airdrop: AirDropSettings?
        /// See `Settings.places`.
        var places: [String: String] = [:]

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
        policy = first(\.policy) ?? Policy.none
        hook = first(\.hook)
        hookTimeout = first(\.hookTimeout) ?? .seconds(60)
        hookIsSandboxed = first(\.hookIsSandboxed) ?? true
        hookReadable = first(\.hookReadable) ?? []
        hookWritable = first(\.hookWritable) ?? []
        hookNetwork = first(\.hookNetwork) ?? false
        hookSockets = first(\.hookSockets) ?? false
        eligibility = first(\.eligibility) ?? .everything
        openReceivedURLs = first(\.openReceivedURLs) ?? []
        requiresSandbox = first(\.requiresSandbox) ?? false
        arbiter = first(\.arbiter)
        notifications = first(\.notifications) ?? true
        outboxHook = first(\.outboxHook)
        outboxQuota = first(\.outboxQuota) ?? OutboxLimits.spooledBytes
        inhibitsSleep = first(\.inhibitsSleep) ?? true
        discovery = first(\.discovery) ?? true
        skipInterfaces = first(\.skipInterfaces) ?? InterfacePatterns.virtual.patterns
        reserve = first(\.reserve) ?? .standard
        strangerQuota = first(\.strangerQuota) ?? StrangerQuota.standardLimit
        conflict = first(\.conflict) ?? .keepBoth
        partials = PartialBounds(
            lifetime: first(\.partialLifetime) ?? PartialBounds.standard.lifetime,
            quota: first(\.partialQuota) ?? PartialBounds.standard.quota)
        logLevel = first(\.logLevel) ?? .notice
        airdrop = first(\.airdrop) ?? AirDropSettings()
        places = sources.reduce(into: [:]) { places, source in places.merge(source.places) { first, _ in first } }
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
    /// The accepted values, for the message.
    let expected: String
    /// Whether it has several values: a list in the file, commas in the environment.
    let isList: Bool

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
        SettingKey("accept", "WAFT_ACCEPT", expected: "ask, contacts, everyone or none") { text, partial in
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
        SettingKey("hookSandbox", "WAFT_HOOK_SANDBOX", expected: "strict or none") { text, partial in
            partial.hookIsSandboxed = text == "strict"
            return ["strict", "none"].contains(text)
        },
        SettingKey(
            name: "hookReadable", variable: "WAFT_HOOK_READABLE",
            read: { texts, partial in
                partial.hookReadable = texts
                return texts.count <= CatalogLimits.namedPaths && texts.allSatisfy { PathText.isAbsolute($0) }
            }, expected: "a list of absolute paths, such as [/home/me/albums.txt]"),
        SettingKey(
            name: "hookWritable", variable: "WAFT_HOOK_WRITABLE",
            read: { texts, partial in
                partial.hookWritable = texts
                return texts.count <= CatalogLimits.namedPaths && texts.allSatisfy { PathText.isAbsolute($0) }
            }, expected: "a list of absolute paths of folders, such as [/home/me/Pictures]"),
        SettingKey("hookNetwork", "WAFT_HOOK_NETWORK", expected: "true or false") { text, partial in
            partial.hookNetwork = Self.truth(text)
            return partial.hookNetwork != nil
        },
        SettingKey("hookSockets", "WAFT_HOOK_SOCKETS", expected: "true or false") { text, partial in
            partial.hookSockets = Self.truth(text)
            return partial.hookSockets != nil
        },
        SettingKey("eligibility", "WAFT_ELIGIBILITY", expected: "everything or handlers") { text, partial in
            partial.eligibility = EligibilityRule(rawValue: text)
            return partial.eligibility != nil
        },
        SettingKey(
            name: "openReceivedURLs", variable: "WAFT_OPEN_RECEIVED_URLS",
            read: { texts, partial in
                let schemes = texts.compactMap { URLScheme($0) }
                partial.openReceivedURLs = schemes
                return schemes.count == texts.count && schemes.allSatisfy(Self.canBeOpened)
            }, expected: "a list of http, https and schemes of handlers, without colons, such as [https]"),
        SettingKey("sandbox", "WAFT_SANDBOX", expected: "prefer or require") { text, partial in
            partial.requiresSandbox = text == "require"
            return ["prefer", "require"].contains(text)
        },
        SettingKey("arbiter", "WAFT_ARBITER", expected: "the path of an executable") { text, partial in
            partial.arbiter = text
            return !text.isEmpty
        },
        SettingKey("notifications", "WAFT_NOTIFICATIONS", expected: "true or false") { text, partial in
            partial.notifications = Self.truth(text)
            return partial.notifications != nil
        },
        SettingKey("outboxHook", "WAFT_OUTBOX_HOOK", expected: "the path of an executable") { text, partial in
            partial.outboxHook = text
            return !text.isEmpty
        },
        SettingKey("outboxQuota", "WAFT_OUTBOX_QUOTA", expected: "bytes, or a size such as 20 GB") { text, partial in
            partial.outboxQuota = try? ByteCountText.read(text)
            return partial.outboxQuota != nil
        },
        SettingKey("inhibitSleep", "WAFT_INHIBIT_SLEEP", expected: "true or false") { text, partial in
            partial.inhibitsSleep = Self.truth(text)
            return partial.inhibitsSleep != nil
        },
        SettingKey("discovery", "WAFT_DISCOVERY", expected: "true or false") { text, partial in
            partial.discovery = Self.truth(text)
            return partial.discovery != nil
        },
        SettingKey(
            name: "skipInterfaces", variable: "WAFT_SKIP_INTERFACES",
            read: { texts, partial in
                partial.skipInterfaces = texts
                return texts.allSatisfy { !$0.isEmpty && $0.utf8.count <= 64 }
            }, expected: "a list of interface names or patterns, such as [docker*, wg0]"),
        SettingKey("reserve", "WAFT_RESERVE", expected: "a size such as 2 GB, or a share such as 5 %") {
            text, partial in
            partial.reserve = Self.reserve(text)
            return partial.reserve != nil
        },
        SettingKey(
            "strangerQuota", "WAFT_STRANGER_QUOTA", expected: "a size such as 10 GiB, or 0 for none"
        ) { text, partial in
            partial.strangerQuota = try? ByteCountText.read(text)
            return partial.strangerQuota != nil
        },
        SettingKey("conflict", "WAFT_CONFLICT", expected: "keep-both or skip") { text, partial in
            partial.conflict = ConflictRule(rawValue: text)
            return partial.conflict != nil
        },
        SettingKey("partialLifetime", "WAFT_PARTIAL_LIFETIME", expected: "a time such as 7d or 12h") { text, partial in
            partial.partialLifetime = try? DurationText.read(text)
            return partial.partialLifetime != nil
        },
        SettingKey(
            "partialQuota", "WAFT_PARTIAL_QUOTA", expected: "a size such as 20 GiB, or 0 for nothing"
        ) { text, partial in
            partial.partialQuota = try? ByteCountText.read(text)
            return partial.partialQuota != nil
        },
        SettingKey("logLevel", "WAFT_LOG_LEVEL", expected: "debug, info, notice, warning or error") { text, partial in
            guard let level = Logger.Level(rawValue: text) else { return false }
            partial.logLevel = level
            return true
        },
    ]

    private static func reserve(_ text: String) -> DiskReserve? {
        guard text.hasSuffix("%") else { return (try? ByteCountText.read(text)).map { .bytes($0) } }
        let number = text.dropLast().filter { $0 != " " }
        guard number.utf8.count <= 3, let percent = UInt64(number), percent <= 100 else { return nil }
        return .percent(percent)
    }

    static func truth(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "on", "1": true
        case "false", "no", "off", "0": false
        default: nil
        }
    }

    /// Of the schemes that are built in only those of the web are opened for a stranger.
    private static func canBeOpened(_ scheme: URLScheme) -> Bool {
        !scheme.isBuiltIn || ["http", "https"].contains(scheme.text)
    }

    /// A setting with several.
    private init(
        name: String,
        variable: String,
        read: @escaping @Sendable ([String], inout Settings.Partial) -> Bool,
        expected: String,
        isList: Bool = true
    ) {
        self.name = name
        self.variable = variable
        self.read = read
        self.expected = expected
        self.isList = isList
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
            expected: expected,
            isList: false)
    }
}
