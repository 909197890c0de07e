/// How a receiver is doing.
package struct StatusLine: Line, Codable, Equatable {
    package static let event = "status"

    /// How a receiver can be reached by another dialect.
    package struct Dialect: Codable, Sendable, Equatable {
        package let name: String
        /// The name of the dialect for people.
        package let title: String
        /// `published as NAME, port N`, or the reason why its peers do not find this machine.
        package let words: String

        package init(name: String, title: String, words: String) {
            (self.name, self.title, self.words) = (name, title, words)
        }
    }

    /// The radio backend of AirDrop, which lets iPhones see this machine.
    package struct Radio: Codable, Sendable, Equatable {
        /// Its name and version; absent before its first window.
        package var backend: String?
        /// Whether `awdl0` is up, with an address.
        package var interfaceUp = false
        /// Whether its window is open, is being opened, or is being closed.
        package var visible = false
        package var opening = false
        package var closing = false
        /// Seconds until the window ends, by the backend; absent for one without an end, and before the backend was asked.
        package var windowSeconds: Int?
        /// Whether anything was received on the radio in this window.
        package var proven = false
        /// Number of peers that the radio has heard.
        package var heard = 0
        /// The backend's missing parts, in its own words; absent for none.
        package var obstacles: [String]?
        /// Why the window is not open as it should be, and the next step; absent if all is well.
        package var fault: String?
        package var hint: String?
        /// The kind of fault.
        package var radioFault: String?

        package init() {}
    }

    package var name: String
    package var id: String
    package var port: Int
    package var inbox: String
    package var accept: String
    /// `avahi-daemon`, `embedded`, `off`, or the error.
    package var discovery: String
    /// How the receiver can be reached by the other dialects, by their names.
    package private(set) var dialects: [String: String]
    /// Bytes free for the Inbox; absent when it cannot be reached, for the reason in `inboxFault`.
    package var free: UInt64?
    package var inboxFault: String?
    /// Why the journal cannot be written, so that nothing is accepted, or how many stored items it does not know yet;
    /// absent if all is well.
    package var journalFault: String?
    package var waitingOffers: Int
    package var activeTransfers: Int
    package var processID: Int
    package var hook: String?
    /// The means of the kernel to restrict handlers, or why it has none.
    package var kernel = ""
    /// The peers that can see the receiver: `off`, `contacts`, `everyone`.
    package var visibility = "off"
    /// The visibility that the user has stored, if the one given at the receiver's start overrides it.
    package var visibilityStored: String?
    /// Seconds until this visibility ends, rounded up, and the next visibility; absent for a permanent choice.
    package var visibilitySeconds: Int64?
    package var visibilityThen: String?
    /// Handlers that are in use.
    package var handlerCount = 0
    /// Deliveries that wait for a handler, that are parked, and that failed; absent if the journal cannot be read.
    package var waitingDeliveries: Int?
    package var parkedDeliveries: Int?
    package var failedDeliveries: Int?
    /// Interrupted items that are kept to be resumed, and their bytes.
    package var keptPartials = 0
    package var keptBytes: UInt64 = 0
    /// Jobs of the outbox that wait, are being sent, and were given up.
    package var waitingJobs = 0
    package var sendingJobs = 0
    package var failedJobs = 0
    /// Faults of the configuration file, a line each; absent if it is in use.
    package var settingsFaults: [String]?
    /// Programs, folders and certificates that settings and handlers name and that are missing, a line each; absent if
    /// none is.
    package var programFaults: [String]?
    /// One line for each file that is damaged or was set aside as damaged; absent if there is none.
    package var damage: [String]?
    /// Why the machine may sleep during transfers; absent if logind grants the locks, or was not asked yet.
    package var wakeFault: String?
    /// The radio backend; absent if none is installed or wanted.
    package var radio: Radio?
    /// As in the lines `locked` and `unlocked`.
    package var protection: String?
    package var unlocked: Bool?
    package var locking: Bool?
    package var unlockedOnce: Bool?
    package var protectionSince: LineTime?
    package var waitingItems: Int?
    package var protectionFault: String?
    @Unsaid package private(set) var otherDialects: [Dialect]
    /// The first `shownTransfers` that move, in both directions.
    @Unsaid package var transfers: [MovingLine] = []
    /// When the settings in use were read.
    @Unsaid package var settingsSince: LineTime?
    @Unsaid package var isProtectionSetUp = false
    @Unsaid package var isDropBox = false

    package static let shownTransfers = 10

    /// - Parameter dialects: the others, each name once.
    package init(
        name: String, id: String, port: Int, inbox: String, accept: String, discovery: String,
        dialects: [Dialect] = [], free: UInt64?, waitingOffers: Int, activeTransfers: Int, processID: Int,
        hook: String?
    ) {
        (self.name, self.id, self.port, self.inbox) = (name, id, port, inbox)
        (self.accept, self.discovery, self.free, self.hook) = (accept, discovery, free, hook)
        self.dialects = Dictionary(dialects.map { ($0.name, $0.words) }) { first, _ in first }
        (self.waitingOffers, self.activeTransfers, self.processID) = (waitingOffers, activeTransfers, processID)
        otherDialects = dialects
    }
}

extension StatusLine.Radio {
    /// Whether iPhones see this machine, in a line.
    package var words: String {
        if let fault {
            let audience = radioFault == "staysOpen" ? "may still see" : visible ? "may not see" : "do not see"
            return "iPhones \(audience) this machine: \(fault); \(hint ?? "see: waft doctor")"
        }
        if opening { return "the radio is being switched on; see: waft status" }
        if closing { return "the radio is being switched off; see: waft status" }
        guard visible else { return "off: not visible to everyone" }
        let name = backend.map { " (\($0))" } ?? ""
        return "iPhones see this machine too\(name); meanwhile Wi-Fi may be slower, or pause"
    }

    /// The same for programs; as in `VisibilityLine`.
    package var state: String { radioFault ?? (opening ? "opening" : closing ? "closing" : visible ? "on" : "off") }

    /// More facts for `waft status` and the doctor, in a line.
    package var details: String {
        var facts = [interfaceUp ? "awdl0 is up" : "awdl0 is not up"]
        if visible {
            facts.append(proven ? "it receives" : "nothing received yet")
            if let windowSeconds { facts.append("\(windowSeconds) s left") }
            facts.append(heard == 1 ? "1 peer heard" : "\(heard) peers heard")
        }
        return facts.joined(separator: ", ")
    }
}
