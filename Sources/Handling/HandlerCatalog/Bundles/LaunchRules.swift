/// How to run a handler: the `Waft…` keys of its bundle.
package struct LaunchRules: Hashable, Sendable {
    /// When the handler is started (`WaftLaunch`).
    package enum Mode: String, Hashable, Sendable, CaseIterable {
        /// Once for each item.
        case perItem
        /// Once for all items of a transfer.
        case perTransfer
        /// Once; it stays, and gets one line for each item.
        case resident
    }

    /// A question that the handler gets before the first URL (`WaftLaunchCalls`), in the order of asking.
    package enum Call: String, Hashable, Sendable, CaseIterable {
        /// Once for each version of the bundle, until the answer is yes.
        case firstLaunch = "first-launch"
        case willFinishLaunching = "will-finish-launching"
        case didFinishLaunching = "did-finish-launching"
    }

    /// A notice that the handler gets (`WaftLaunchCalls` too), and whose answer changes nothing.
    package enum Notice: String, Hashable, Sendable, CaseIterable {
        /// A lock begins: sealed items can be read for a few seconds more.
        case willBecomeUnavailable = "protected-data-will-become-unavailable"
        /// Sealed items can be read again.
        case didBecomeAvailable = "protected-data-did-become-available"
    }

    /// The rights of the handler (`WaftSandbox`).
    package enum Sandbox: String, Hashable, Sendable, CaseIterable {
        case strict
        case none
    }

    package var mode: Mode
    /// Whether a resident handler is started with the receiver and stays when nothing arrives (`WaftKeepRunning`).
    package var keepsRunning: Bool
    /// Whether it takes a sealed item that is too large for a clear copy as a stream (`WaftStreams`). Never for a resident
    /// handler.
    package var takesStreams: Bool
    package var calls: Set<Call>
    package var notices: Set<Notice>
    package var sandbox: Sandbox
    /// Paths that it may read besides the system's folders, its bundle and the Inbox (`WaftReadablePaths`): absolute,
    /// `~/` resolved.
    package var readablePaths: [String]
    /// Paths that it may read and write besides its data folder (`WaftWritablePaths`): absolute, `~/` resolved.
    package var writablePaths: [String]
    /// Whether it may use the network (`WaftNetwork`).
    package var allowsNetwork: Bool
    /// Whether it may connect to the Unix sockets of other programs (`WaftSockets`).
    package var allowsSockets: Bool
    /// Names of variables of the receiver's environment that it also gets (`WaftEnvironment`).
    package var environment: [String]
    /// The time until the handler is ended (`WaftTimeout`, in seconds), more than 0; nil if the bundle gives none.
    package var timeout: Duration?

    package init(
        mode: Mode = .perItem,
        keepsRunning: Bool = false,
        takesStreams: Bool = false,
        calls: Set<Call> = [],
        notices: Set<Notice> = [],
        sandbox: Sandbox = .strict,
        readablePaths: [String] = [],
        writablePaths: [String] = [],
        allowsNetwork: Bool = false,
        allowsSockets: Bool = false,
        environment: [String] = [],
        timeout: Duration? = nil
    ) {
        self.mode = mode
        self.keepsRunning = keepsRunning
        self.takesStreams = takesStreams
        self.calls = calls
        self.notices = notices
        self.sandbox = sandbox
        self.readablePaths = readablePaths
        self.writablePaths = writablePaths
        self.allowsNetwork = allowsNetwork
        self.allowsSockets = allowsSockets
        self.environment = environment
        self.timeout = timeout
    }
}

extension LaunchRules {
    /// The words of `WaftLaunchCalls`.
    static let callWords = Call.allCases.map(\.rawValue) + Notice.allCases.map(\.rawValue)

    /// Those of this handler, in order.
    package var callWords: [String] {
        Call.allCases.filter(calls.contains).map(\.rawValue) + Notice.allCases.filter(notices.contains).map(\.rawValue)
    }

    /// Why its sandbox cannot be set up, with the key at fault; nil if it can. Resolves links on the disk.
    package func trouble(_ closed: ClosedPaths) -> (key: LaunchRules.PathList, reason: String)? {
        guard sandbox == .strict else { return nil }
        for path in readablePaths {
            if let reason = closed.trouble(path, .read) { return (.readable, reason) }
        }
        for path in writablePaths {
            if let reason = closed.trouble(path, .write) { return (.writable, reason) }
        }
        return nil
    }

    /// The two lists of paths.
    package enum PathList: String {
        case readable = "WaftReadablePaths"
        case writable = "WaftWritablePaths"

        /// The key of this list in the configuration.
        package var setting: String {
            switch self {
            case .readable: "hookReadable"
            case .writable: "hookWritable"
            }
        }
    }
}
