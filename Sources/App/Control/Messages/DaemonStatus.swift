package import Lines
import UniformTypes

/// How a receiver is doing.
package struct DaemonStatus: Codable, Sendable, Equatable {
    package var name: String
    package var id: String
    package var port: Int
    package var inbox: String
    package var accept: String
    /// `avahi-daemon`, `embedded`, `off`, or the error.
    package var discovery: String
    /// The other dialects. Nil from a receiver that is older than the command line.
    package var dialects: [DialectStatus]?
    /// Bytes free for the Inbox; nil when it cannot be reached.
    package var freeRoom: UInt64?
    /// Why it cannot be reached; nil where it can.
    package var inboxFault: String?
    /// Why the journal cannot be written, so that nothing is accepted, or how many stored items it does not know yet;
    /// nil if all is well.
    package var journalError: String?
    package var waitingOffers: Int
    package var activeTransfers: Int
    /// The first `shownTransfers` that move, in both directions.
    package var transfers: [MovingLine]?
    package static let shownTransfers = 10
    package var processID: Int
    package var hook: String?
    /// The means of the kernel to restrict handlers, or why it has none.
    package var sandbox: String?
    /// The peers that can see the receiver: `off`, `contacts`, `everyone`.
    package var visible: String?
    /// The visibility that the user has stored, if the one given at the receiver's start overrides it.
    package var visibleStored: String?
    /// Seconds until this visibility ends, rounded up, and the next visibility; nil for a permanent choice.
    package var visibleSeconds: Int64?
    package var visibleThen: String?
    /// Handlers that are in use.
    package var handlers: Int?
    /// Deliveries that wait for a handler, that are parked, and that failed.
    package var waitingDeliveries: Int?
    package var parkedDeliveries: Int?
    /// Interrupted items that are kept to be resumed, and their bytes.
    package var keptPartials: Int?
    package var keptBytes: UInt64?
    package var failedDeliveries: Int?
    /// Jobs of the outbox that wait, are being sent, and were given up.
    package var waitingJobs: Int?
    package var sendingJobs: Int?
    package var failedJobs: Int?
    /// Faults of the configuration file, a line each; nil if it is in use.
    package var settingsFaults: [String]?
    /// Programs, folders and certificates that settings and handlers name and that are missing, a line each; nil if
    /// none is.
    package var programFaults: [String]?
    /// When the settings in use were read: milliseconds since 1970.
    package var settingsSince: Int64?
    /// One line for each file that is damaged or was set aside as damaged; nil if there is none.
    package var damage: [String]?
    /// Why the machine may sleep during transfers; nil if logind grants the locks, or was not asked yet.
    package var wakeFault: String?
    /// How protected items stand.
    package var protection: ProtectionReport?

    package init(
        name: String,
        id: String,
        port: Int,
        inbox: String,
        accept: String,
        discovery: String,
        freeRoom: UInt64?,
        waitingOffers: Int,
        activeTransfers: Int,
        processID: Int,
        hook: String?
    ) {
        self.name = name
        self.id = id
        self.port = port
        self.inbox = inbox
        self.accept = accept
        self.discovery = discovery
        self.freeRoom = freeRoom
        self.waitingOffers = waitingOffers
        self.activeTransfers = activeTransfers
        self.processID = processID
        self.hook = hook
    }
}

/// How a receiver can be reached by a dialect.
package struct DialectStatus: Codable, Sendable, Equatable {
    package var name: String
    /// The name of the dialect for people.
    package var title: String
    /// `published as NAME, port N`, or the reason why its peers do not find this machine.
    package var words: String

    package init(name: String, title: String, words: String) {
        (self.name, self.title, self.words) = (name, title, words)
    }
}
