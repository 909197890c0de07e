internal import Logging

/// A directory that knows whether it can do anything just now.
protocol ObservableDirectory: ServiceDirectory {
    /// Whether a responder answers: at once if that is known, and whenever it changes. Listening counts as use.
    func availability() -> AsyncStream<Bool>
}

/// Uses avahi-daemon where it runs, and a responder of its own where it does not: a machine should have one responder, and
/// avahi-daemon is the one that others use too.
///
/// The daemon is watched as long as the directory is used. When it comes, everything moves over to it at once: announced
/// services are withdrawn here and announced there under the name first asked for. When it goes it is given a while to
/// come back, since that is what a restart or an update looks like; then everything moves to the responder of its own.
actor AutomaticDirectory: ServiceDirectory {
    enum Side: Sendable {
        case daemon
        case embedded
    }

    struct Patience: Sendable {
        /// How long a daemon that is there may take to say so, before the first use goes on without it.
        var firstAnswer = Duration.seconds(2)
        /// How long a daemon that went may take to come back.
        var absence = Duration.seconds(5)
        /// How long after a failed move the next try is.
        var retry = Duration.seconds(1)
    }

    typealias Sleep = @Sendable (Duration) async throws -> Void

    /// A publication, wherever it is.
    struct Moving {
        var description: ServiceDescription
        /// Nil while it moves.
        var current: (any Publication)?
        /// Where `current` is.
        var home: Side?
        var mover: Task<Void, Never>?
    }

    /// A browse, wherever it looks.
    struct Browsing {
        var type: String
        var mailbox: BrowseMailbox
        var ledger = BrowseLedger()
        /// Carries the events of one side.
        var courier: Task<Void, Never>?
        /// Which courier is the present one: the last event of an older one may still be on its way.
        var turn = 0
    }

    private let daemon: any ObservableDirectory
    private let embedded: any ServiceDirectory
    let patience: Patience
    let sleep: Sleep
    let logger: Logger

    /// Nil until it has been decided.
    private(set) var side: Side?
    private var isDaemonAvailable = false
    private var deciders: [CheckedContinuation<Void, Never>] = []
    private var watch: Task<Void, Never>?
    /// The end of patience with a daemon that does not answer, or that has gone.
    private var deadline: Task<Void, Never>?

    var publications: [UInt64: Moving] = [:]
    var browses: [ObjectIdentifier: Browsing] = [:]
    /// Publications that are being made.
    var beginnings = 0
    private var lastIdentifier: UInt64 = 0

    init(
        daemon: any ObservableDirectory,
        embedded: any ServiceDirectory,
        logger: Logger,
        patience: Patience = Patience(),
        sleep: @escaping Sleep = { try await Task.sleep(for: $0) }
    ) {
        self.daemon = daemon
        self.embedded = embedded
        self.logger = logger
        self.patience = patience
        self.sleep = sleep
    }

    deinit {
        watch?.cancel()
        deadline?.cancel()
    }

    func makeIdentifier() -> UInt64 {
        lastIdentifier += 1
        return lastIdentifier
    }

    func directory(_ side: Side) -> any ServiceDirectory {
        switch side {
        case .daemon: daemon
        case .embedded: embedded
        }
    }
}

// MARK: - Which side

extension AutomaticDirectory {
    /// The first use begins to watch the daemon; returns when a side has been chosen, or the last use has ended.
    func use() async {
        if watch == nil {
            let availability = daemon.availability()
            watch = Task { [weak self] in
                for await isAvailable in availability { await self?.daemonChanged(isAvailable) }
            }
            wait(patience.firstAnswer)
        }
        guard side == nil else { return }
        await withCheckedContinuation { deciders.append($0) }
    }

    /// The last use ends it.
    func releaseIfUnused() {
        guard publications.isEmpty, browses.isEmpty, beginnings == 0 else { return }
        watch?.cancel()
        watch = nil
        deadline?.cancel()
        deadline = nil
        side = nil
        isDaemonAvailable = false
        resumeDeciders()
    }

    private func daemonChanged(_ isAvailable: Bool) {
        isDaemonAvailable = isAvailable
        switch (side, isAvailable) {
        case (.daemon, true):
            deadline?.cancel()
            deadline = nil
        case (_, true): choose(.daemon)
        case (nil, false): choose(.embedded)
        case (.daemon, false): wait(patience.absence)
        case (.embedded, false): break
        }
    }

    private func wait(_ duration: Duration) {
        deadline?.cancel()
        deadline = Task { [weak self, sleep] in
            guard (try? await sleep(duration)) != nil, !Task.isCancelled else { return }
            await self?.patienceEnded()
        }
    }

    private func patienceEnded() {
        guard watch != nil, !isDaemonAvailable, side != .embedded else { return }
        choose(.embedded)
    }

    func choose(_ new: Side) {
        deadline?.cancel()
        deadline = nil
        guard side != new else { return }
        logger.info("discovery goes through \(new == .daemon ? "avahi-daemon" : "the embedded responder")")
        side = new
        resumeDeciders()
        for identifier in Array(publications.keys) { move(identifier) }
        for identifier in Array(browses.keys) { look(identifier) }
    }

    private func resumeDeciders() {
        let waiting = deciders
        deciders = []
        waiting.forEach { $0.resume() }
    }
}
