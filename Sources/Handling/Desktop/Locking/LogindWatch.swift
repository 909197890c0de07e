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
