package import Contacts
package import Discovery
package import HandlerCatalog
package import Inbox
package import Logging
import Outbox
package import Sharing

/// The settings of Waft, each with its default until a source sets it.
///
/// The sources are read in this order, and a later one overrides the earlier ones: `config.yaml`, the environment, the
/// command line. `SettingKey` has a row for each setting.
package struct Settings: Sendable {
    /// The default for `name`, before it is made to fit.
    package let hostName: String
    /// The name that this peer gives itself.
    package var name: String
    /// The port to listen on; nil: the usual one, or any when that is taken.
    package var port: UInt16?
    package var accept = AcceptRule.ask
    /// The rules for offers.
    package var policy = Policy.none
    /// Path of the hook.
    package var hook: String?
    package var hookTimeout = Duration.seconds(60)
    /// Whether the hook is restricted as handlers are.
    package var hookIsSandboxed = true
    /// Absolute paths that a restricted hook may read and write, besides those of every handler.
    package var hookReadable: [String] = []
    package var hookWritable: [String] = []
    /// Whether the hook may use the network, and connect to Unix sockets.
    package var hookNetwork = false
    package var hookSockets = false
    /// Names of variables of the receiver's environment that it gets.
    package var hookEnvironment: [String] = []
    /// Which types can be sent here.
    package var eligibility = EligibilityRule.everything
    /// Schemes of received URLs that are opened, and not only stored.
    package var openReceivedURLs: [URLScheme] = []
    /// Types of activities that are not offered.
    package var excludedActivities: [String] = []
    /// Whether a handler with a sandbox may not run if the kernel cannot enforce the sandbox.
    package var requiresSandbox = false
    /// Path of the program that answers offers.
    package var arbiter: String?
    /// The events that are shown on the desktop.
    package var notifications = NotificationRule.all
    /// The peers to which previews are sent, and whose previews are shown.
    package var previews = PreviewRule.contacts
    /// The senders for which this machine passes contents on.
    package var relay = RelayRule.accepted
    /// Path of the program that gets the outcomes of jobs in the outbox.
    package var outboxHook: String?
    /// Bytes that copies in the outbox may have.
    package var outboxQuota = OutboxLimits.spooledBytes
    /// Whether the machine is kept from going to sleep while something is being sent or received.
    package var inhibitsSleep = true
    /// Whether to publish, and to find others by mDNS.
    package var discovery = true
    /// Patterns of interface names that are not published on, nor believed.
    package var skipInterfaces = InterfacePatterns.virtual.patterns
    /// Domains whose services are found by ordinary DNS; `resolver` for the search list of the machine's resolver.
    package var searchDomains = [DomainBrowser.resolver]
    /// The part of the Inbox's disk that stays free.
    package var reserve = DiskReserve.standard
    /// Bytes in the Inbox from one stranger; 0 for no bound.
    package var strangerQuota = StrangerQuota.standardLimit
    package var conflict = ConflictRule.keepBoth
    /// How arrivals are sealed, unless a rule or a contact says otherwise.
    package var protection = ProtectionClass.none
    /// Waft locks itself when no item was opened for so long; nil: it does not.
    package var lockAfter: Duration?
    /// Whether the screen saver locks Waft too.
    package var locksOnScreenSaver = false
    /// Bytes of clear copies for handlers at the same time; nil: half of the room of their file system.
    package var clearQuota: UInt64?
    /// Bounds for the kept parts of interrupted items.
    package var partials = PartialBounds.standard
    package var logLevel = Logger.Level.notice
    package var airdrop = AirDropSettings()
    package var localsend = LocalSendSettings()
    package var web = WebSettings()
    package var desk = DeskSettings()

    /// The source of each setting that is not the default, by the name of the setting: an option such as `--port`, the
    /// name of a variable, or `PATH, line N`.
    package internal(set) var places: [String: String] = [:]

    /// All defaults.
    ///
    /// - Parameter hostName: the default for `name`.
    package init(hostName: String) {
        self.hostName = hostName
        name = PeerName.fit(hostName)
    }

    /// Sets a value of the command line.
    package mutating func set<Value>(_ path: WritableKeyPath<Settings, Value>, to value: Value) {
        self[keyPath: path] = value
        let key = SettingKey.of(path)
        places[key.name] = key.flag
    }

    /// A line about a setting that turned out to be unusable, with the place of the setting before it.
    package func line(about setting: String, _ reason: String) -> String {
        places[setting].map { "\($0): \(reason)" } ?? reason
    }

    /// The line of a file that sets a setting; nil if another source sets it, or none.
    package func line(of setting: String, in path: String) -> Int? {
        places[setting]?.split(separator: "\(path), line ", maxSplits: 1, omittingEmptySubsequences: false).dropFirst()
            .last.flatMap { Int($0) }
    }

    /// The domains to ask; nil for none. With discovery off, the resolver's search list is not asked.
    package var askedDomains: [String]? {
        let asked = searchDomains.filter { discovery || $0 != DomainBrowser.resolver }
        return asked.isEmpty ? nil : asked
    }

    package var denied: InterfacePatterns { InterfacePatterns(skipInterfaces) }

    /// Rules for the hook. The outbox hook and the arbiter have the same permissions, but the arbiter may not write.
    package var hookRules: LaunchRules {
        LaunchRules(
            sandbox: hookIsSandboxed ? .strict : .none, readablePaths: hookReadable, writablePaths: hookWritable,
            allowsNetwork: hookNetwork, allowsSockets: hookSockets, environment: hookEnvironment,
            timeout: hookTimeout)
    }
}
