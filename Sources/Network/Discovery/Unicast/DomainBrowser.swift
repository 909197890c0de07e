internal import Executors
internal import Synchronization

/// Finds services by ordinary DNS in some domains, for sites whose machines multicast DNS does not connect.
package struct DomainBrowser: Sendable {
    /// Stands for the domains in the search list of this machine's resolver.
    package static let resolver = "resolver"

    /// Domains, and `resolver`.
    private let domains: [String]

    /// The pause between two looks.
    private static let pause: Duration = .seconds(30)
    /// How long a look may take in all.
    private static let maximum: Duration = .seconds(10)
    /// Looks of this process at the same time: a name server that does not answer occupies their threads.
    private static let maximumLooks = 4
    private static let looks = Atomic(0)

    package init(domains: [String]) {
        self.domains = domains
    }

    /// Whether a text can be a domain: letters, digits, hyphens and underscores between dots.
    package static func isDomain(_ text: String) -> Bool {
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return (1...253).contains(text.utf8.count)
            && labels.allSatisfy { label in
                (1...63).contains(label.count)
                    && label.allSatisfy { byte in
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8.contains(byte)
                    }
            }
    }

    /// As `ServiceDirectory.browse`; the name of an instance is its whole name in DNS, with the domain. Reports nothing
    /// while no name server answers.
    package func browse(type: String) -> AsyncStream<BrowseEvent> {
        let ticket = Ticket()
        let (stream, mailbox) = BrowseMailbox.open { _ in ticket.cancel() }
        ticket.hold(Task { await look(for: type, mailbox) })
        return stream
    }

    private func look(for type: String, _ mailbox: BrowseMailbox) async {
        var ledger = BrowseLedger()
        while !Task.isCancelled, !mailbox.isFinished {
            ledger.beginSession()
            for await step in steps(type) {
                switch step {
                case .found(let service): ledger.update(service).map(mailbox.post)
                case .complete: ledger.endOfKnown().forEach(mailbox.post)
                }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    private enum Step: Sendable {
        case found(DiscoveredService)
        case complete
    }

    /// One look at all domains, on a thread of its own, which ends by itself.
    private func steps(_ type: String) -> AsyncStream<Step> {
        let (steps, feed) = AsyncStream<Step>.makeStream()
        let domains = self.domains
        guard Self.looks.add(1, ordering: .relaxed).newValue <= Self.maximumLooks else {
            Self.looks.subtract(1, ordering: .relaxed)
            feed.finish()
            return steps
        }
        let isStarted = BackgroundThread.start("waft-dns") {
            let own = NetworkSnapshot.current().ownAddresses
            let deadline = ContinuousClock.now + Self.maximum
            var isComplete = true
            for domain in Self.resolved(domains) {
                let lookup = DomainLookup(type: type, domain: domain, deadline: deadline)
                isComplete = lookup.run(own) { feed.yield(.found($0)) } && isComplete
            }
            if isComplete { feed.yield(.complete) }
            feed.finish()
            Self.looks.subtract(1, ordering: .relaxed)
        }
        if !isStarted {
            Self.looks.subtract(1, ordering: .relaxed)
            feed.finish()
        }
        return steps
    }

    /// The domains to look at, each once.
    private static func resolved(_ domains: [String]) -> [String] {
        var seen: Set<String> = []
        return Array(
            domains.flatMap { $0 == resolver ? DomainQuery.searchDomains(limit: DiscoveryLimits.domains) : [$0] }
                .map { $0.lowercased() }
                // `local` belongs to multicast DNS (RFC 6762, 3).
                .filter { isDomain($0) && $0 != "local" && seen.insert($0).inserted }
                .prefix(DiscoveryLimits.domains))
    }

    /// Cancels the task of a stream that has ended.
    private final class Ticket: Sendable {
        private let task: Mutex<(task: Task<Void, Never>?, isOver: Bool)>

        init() { task = Mutex((nil, false)) }

        func hold(_ new: Task<Void, Never>) {
            let isOver = task.withLock { state in
                state.task = new
                return state.isOver
            }
            if isOver { new.cancel() }
        }

        func cancel() {
            let held = task.withLock { state in
                state.isOver = true
                return state.task
            }
            held?.cancel()
        }
    }
}
