import DBusClient
import Logging

/// Follows logind: its sessions of one user, and sleep. Used by one task.
///
/// ```
/// no bus ──connect──▶ no logind ──owner──▶ watching
///    ▲                    ▲──── no owner ─────┘ │
///    └──────────── the bus is gone ─────────────┘
/// ```
/// Leaving `watching` is an event; never having been there is a line in the log.
struct LogindWatch {
    /// Pause between attempts to connect; it doubles up to the longest.
    private static let longestPause: Duration = .seconds(60)
    /// Maximum number of signals that wait. More of them end the connection, which counts as a loss.
    private static let buffer = 4_096

    private let bus: BusAddress
    private let user: UInt32
    private let firstPause: Duration
    private let queue: LockEventQueue
    private let delay: SleepDelay
    private let logger: Logger

    private var table = SessionTable()
    /// The unique name of logind; nil without one.
    private var owner: String?
    private var isWatching = false
    private var wasLost = false
    private var hasSaid = false
    private var pause: Duration

    init(
        bus: BusAddress, user: UInt32, firstPause: Duration, queue: LockEventQueue, delay: SleepDelay, logger: Logger
    ) {
        self.bus = bus
        self.user = user
        self.firstPause = firstPause
        self.queue = queue
        self.delay = delay
        self.logger = logger
        pause = firstPause
    }

    /// Runs until the task is cancelled.
    mutating func run() async {
        while !Task.isCancelled {
            var reason = BusError.disconnected
            do throws(BusError) {
                let client = try await BusClient.connect(to: bus, limits: Logind.limits, timeout: Logind.timeout)
                try await client.untilCancelled { () async throws(BusError) in try await follow(client) }
            } catch {
                reason = error
            }
            guard !Task.isCancelled else { return }
            lose(.bus, "\(reason)")
            cannotWatch("\(reason)")
            // Ends at once when the task is cancelled.
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Returns when the connection ends.
    private mutating func follow(_ client: BusClient) async throws(BusError) {
        let signals = try await client.signals(
            LogindSignal.matches, timeout: Logind.timeout, buffer: Self.buffer, reading: LogindSignal.init)
        // After the subscription, so that no change is missed in between.
        try await meet(try await client.owner(of: Logind.name, timeout: Logind.timeout), client)
        for await signal in signals { try await take(signal, client) }
    }

    /// There is another logind, or none.
    private mutating func meet(_ owner: String?, _ client: BusClient) async throws(BusError) {
        self.owner = owner
        lose(.logind, "logind has left the system bus")
        if owner == nil {
            cannotWatch("logind is not on the system bus")
        } else {
            try await begin(client)
        }
    }

    /// logind is there: reads its state.
    private mutating func begin(_ client: BusClient) async throws(BusError) {
        var sessions: [String: LogindSession] = [:]
        for path in try await Logind.sessions(of: user, client) {
            sessions[path] = try await Logind.session(at: path, client)
        }
        pause = firstPause
        isWatching = true
        await delay.renew(keeping: !wasLost)
        if wasLost { queue.post(.back) }
        wasLost = false
        post(table.begin(with: sessions))
        logger.debug("the lock of the screen is watched", metadata: ["sessions": "\(sessions.count)"])
    }

    private mutating func take(_ signal: LogindSignal, _ client: BusClient) async throws(BusError) {
        if case .owner(let owner) = signal {
            // The signal of the owner that was asked for already may still come.
            if owner != self.owner { try await meet(owner, client) }
            return
        }
        guard isWatching else { return }
        switch signal {
        case .owner: break
        case .sleep(begins: true):
            await delay.sleepBegins()
            queue.post(.locked(.sleep))
        case .sleep(begins: false): await delay.renew(keeping: false)
        case .sessionBegan(let path): try await read(path, client)
        case .sessionEnded(let path): post(table.remove(path))
        case .changed(let path, let isLocked):
            guard var session = table[path] else { return }
            // A lock that is undone at once is a lock. Only the session itself says that it is unlocked: the signal may be old.
            if isLocked == true {
                session.isLocked = true
                post(table.set(path, session))
            }
            try await read(path, client)
        // Of a terminal too: only the hint needs a screen.
        case .lock(let path): if table[path]?.isPersonal == true { queue.post(.locked(.request)) }
        }
    }

    private mutating func read(_ path: String, _ client: BusClient) async throws(BusError) {
        guard let session = try await Logind.session(at: path, client) else { return }
        if session.user == user { post(table.set(path, session)) }
    }

    private func post(_ event: LockEvent?) {
        if let event { queue.post(event) }
    }

    private mutating func lose(_ loss: LockWatchLoss, _ reason: String) {
        guard isWatching else { return }
        isWatching = false
        wasLost = true
        table = SessionTable()
        queue.post(.lost(loss))
        logger.debug("the lock of the screen is no longer watched", metadata: ["reason": "\(reason)"])
    }

    /// Says once that nothing was ever watched; a loss is an event, which the caller reports.
    private mutating func cannotWatch(_ reason: String) {
        guard !hasSaid, !wasLost else { return }
        hasSaid = true
        logger.warning(
            "the lock of the screen cannot be watched: locking it does not lock protected data",
            metadata: ["reason": "\(reason)"])
    }
}

/// The user's sessions, and the events that their changes mean.
struct SessionTable {
    /// By the paths of their objects.
    private var sessions: [String: LogindSession] = [:]

    subscript(path: String) -> LogindSession? { sessions[path] }

    /// Begins with the sessions that are there.
    ///
    /// - Returns: nil without a graphical session: on a server nothing is locked for that.
    mutating func begin(with sessions: [String: LogindSession]) -> LockEvent? {
        self.sessions = sessions
        if isAnyLocked { return .locked(.screen) }
        return isAnyPresent ? .unlockedHint : nil
    }

    /// A session begins, or its properties have changed.
    mutating func set(_ path: String, _ session: LogindSession) -> LockEvent? {
        let old = sessions[path]
        let wasAnyPresent = isAnyPresent
        sessions[path] = session
        if session.isLockedScreen, old?.isLockedScreen != true { return .locked(.screen) }
        if wasAnyPresent, !isAnyPresent { return .locked(.nobody) }
        let isUnlocked = old?.isLockedScreen == true && session.isPresent
        let isFirst = !wasAnyPresent && isAnyPresent
        return (isUnlocked || isFirst) && !isAnyLocked ? .unlockedHint : nil
    }

    /// A session has ended. The end of a locked one unlocks nothing.
    mutating func remove(_ path: String) -> LockEvent? {
        let wasAnyPresent = isAnyPresent
        sessions[path] = nil
        return wasAnyPresent && !isAnyPresent ? .locked(.nobody) : nil
    }

    private var isAnyPresent: Bool { sessions.values.contains(where: \.isPresent) }
    private var isAnyLocked: Bool { sessions.values.contains(where: \.isLockedScreen) }
}

/// A signal that decides about a lock.
enum LogindSignal: Sendable {
    /// logind's name has another owner, by its unique name; nil for none.
    case owner(String?)
    case sleep(begins: Bool)
    case sessionBegan(path: String)
    case sessionEnded(path: String)
    /// - Parameter isLocked: the new `LockedHint`; nil if the signal does not say it.
    case changed(path: String, isLocked: Bool?)
    case lock(path: String)

    /// The signal `Unlock` is not among them: it unlocks nothing.
    static let matches: [BusMatch] = [
        .owner(of: Logind.name),
        BusMatch(from: Logind.name, path: Logind.path, interface: Logind.manager, member: "PrepareForSleep"),
        BusMatch(from: Logind.name, path: Logind.path, interface: Logind.manager, member: "SessionNew"),
        BusMatch(from: Logind.name, path: Logind.path, interface: Logind.manager, member: "SessionRemoved"),
        BusMatch(from: Logind.name, path: nil, interface: Logind.session, member: "Lock"),
        BusMatch(
            from: Logind.name, path: nil, interface: Logind.properties, member: "PropertiesChanged",
            firstArgument: Logind.session),
    ]

    /// - Returns: nil if the arguments are not the expected ones.
    init?(_ signal: BusSignal, _ arguments: inout BusReader) {
        switch signal.member {
        case "NameOwnerChanged":
            guard arguments.string() == Logind.name, arguments.string() != nil, let new = arguments.string() else {
                return nil
            }
            self = .owner(new.isEmpty ? nil : new)
        case "PrepareForSleep":
            guard let begins = arguments.boolean() else { return nil }
            self = .sleep(begins: begins)
        case "SessionNew", "SessionRemoved":
            guard arguments.string() != nil, let path = arguments.objectPath() else { return nil }
            self = signal.member == "SessionNew" ? .sessionBegan(path: path) : .sessionEnded(path: path)
        case "Lock": self = .lock(path: signal.path)
        case "PropertiesChanged":
            guard arguments.string() == Logind.session else { return nil }
            var isLocked: Bool?
            arguments.dictionary(most: LogindSession.mostProperties) { key, value in
                if key == "LockedHint" { isLocked = value.boolean() }
            }
            self = .changed(path: signal.path, isLocked: isLocked)
        default: return nil
        }
    }
}
