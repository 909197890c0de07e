internal import Logging

/// A directory that reports whether it works at present.
protocol ObservableDirectory: ServiceDirectory {
    /// Yields whether a responder answers: at once if that is known, and at each change. Listening counts as use.
    func availability() -> AsyncStream<Bool>
}

/// Uses avahi-daemon if it runs, and otherwise an embedded responder: a machine should have one responder, and other
/// programs use avahi-daemon too.
///
/// The directory watches the daemon while it is used. When the daemon comes, everything moves to it at once: announced
/// services are withdrawn here and announced there under the originally requested name. When it goes, the directory
/// waits a while, since a restart or an update looks the same; then everything moves to the embedded responder.
actor AutomaticDirectory: ServiceDirectory {
    enum Side: Sendable {
        case daemon
        case embedded
    }

    struct Timeouts: Sendable {
        /// How long a running daemon may take to answer, before the first use continues without it.
        var firstAnswer = Duration.seconds(2)
        /// How long a daemon that went may take to come back.
        var absence = Duration.seconds(5)
        /// The pause between a failed move and the next try.
        var retry = Duration.seconds(1)
    }

    typealias Sleep = @Sendable (Duration) async throws -> Void

    /// A publication, on either side.
    struct Moving {
        var description: ServiceDescription
        /// Nil while it moves.
        var current: (any Publication)?
        /// The side of `current`.
        var home: Side?
        var mover: Task<Void, Never>?
    }

    /// A browse, on either side.
    struct Browsing {
        var type: String
        var mailbox: BrowseMailbox
        var ledger = BrowseLedger()
        /// Passes on the events of one side.
        var courier: Task<Void, Never>?
        /// The number of the present courier: the last event of an older one may still be on its way.
        var turn = 0
    }

    private let daemon: any ObservableDirectory
    private let embedded: any ServiceDirectory
    let timeout: Timeouts
    let sleep: Sleep
    let logger: Logger

    /// Nil until a side is chosen.
    private(set) var side: Side?
    private var isDaemonAvailable = false
    private var deciders: [CheckedContinuation<Void, Never>] = []
    private var watch: Task<Void, Never>?
    /// The end of the wait for a daemon that does not answer, or that has gone.
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
        timeout: Timeouts = Timeouts(),
        sleep: @escaping Sleep = { try await Task.sleep(for: $0) }
    ) {
        self.daemon = daemon
        self.embedded = embedded
        self.logger = logger
        self.timeout = timeout
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

extension AutomaticDirectory {
    func deny(_ interfaces: InterfacePatterns) async {
        await daemon.deny(interfaces)
        await embedded.deny(interfaces)
    }
}

// MARK: - Which side

extension AutomaticDirectory {
    /// Starts to watch the daemon at the first use; returns when a side has been chosen, or the last use has ended.
    func use() async {
        if watch == nil {
            let availability = daemon.availability()
            watch = Task { [weak self] in
                for await isAvailable in availability { await self?.daemonChanged(isAvailable) }
            }
            wait(timeout.firstAnswer)
        }
        guard side == nil else { return }
        await withCheckedContinuation { deciders.append($0) }
    }

    /// Ends the watch after the last use.
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
        case (.daemon, false): wait(timeout.absence)
        case (.embedded, false): break
        }
    }

    private func wait(_ duration: Duration) {
        deadline?.cancel()
        deadline = Task { [weak self, sleep] in
            guard (try? await sleep(duration)) != nil, !Task.isCancelled else { return }
            await self?.timeoutEnded()
        }
    }

    private func timeoutEnded() {
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
