package import HandlerCatalog
package import Sharing
package import UniformTypes

/// The handlers for an arrival, in the order of the calls.
package struct HandlerChoice: Sendable {
    /// A handler that can be called.
    package struct Candidate: Hashable, Sendable {
        package var program: HandlerProgram
        /// The URL that the handler opens; nil for the file itself.
        package var link: URLParts?

        package init(program: HandlerProgram, link: URLParts? = nil) {
            self.program = program
            self.link = link
        }
    }

    /// The facts that the choice depends on.
    package struct Subject: Hashable, Sendable {
        package var type: UniformType
        package var kind: ItemKind
        /// The parts of a received URL, if it can be read.
        package var link: URLParts?
        /// The identifier or name of the handler in the user's rules; nil for the usual handlers.
        package var chosen: String?
        /// How the item is sealed.
        package var protection: ProtectionClass

        package init(
            type: UniformType, kind: ItemKind, link: URLParts? = nil, chosen: String? = nil,
            protection: ProtectionClass = .none
        ) {
            self.type = type
            self.kind = kind
            self.link = link
            self.chosen = chosen
            self.protection = protection
        }
    }

    private let catalog: @Sendable () -> CatalogSnapshot
    private let hook: HandlerProgram?
    private let openedSchemes: Set<URLScheme>
    private let opener: HandlerProgram?
    private let defaultTimeLimit: Duration
    private let requiresSandbox: Bool

    /// - Parameters:
    ///   - catalog: the current handlers.
    ///   - hook: the hook of the configuration, which takes the items that no installed handler takes.
    ///   - openedSchemes: schemes of received URLs that are opened, not only stored (`openReceivedURLs`).
    ///   - opener: opens `http:` and `https:` URLs; nil if there is no such program.
    ///   - defaultTimeLimit: for handlers without a time limit of their own.
    ///   - requiresSandbox: whether handlers with a sandbox may not run where the system has none.
    package init(
        catalog: @escaping @Sendable () -> CatalogSnapshot,
        hook: HandlerProgram? = nil,
        openedSchemes: Set<URLScheme> = [],
        opener: HandlerProgram? = nil,
        defaultTimeLimit: Duration = .seconds(60),
        requiresSandbox: Bool = false
    ) {
        self.catalog = catalog
        self.hook = hook
        self.openedSchemes = openedSchemes
        self.opener = opener
        self.defaultTimeLimit = defaultTimeLimit
        self.requiresSandbox = requiresSandbox
    }

    /// Whether a handler will get such an item, as far as known before it arrives.
    package func takes(_ facts: ArrivalFacts) -> Bool {
        if facts.item.kind == .url, !openedSchemes.isEmpty { return true }
        let subject = Subject(type: facts.type, kind: facts.item.kind, chosen: facts.destination.handler)
        return !candidates(for: subject).isEmpty
    }

    /// Why an item cannot be sent here, in one line; nil if it can.
    package func refusal(of item: OfferedItem) -> String? {
        if hook != nil || item.kind == .url && !openedSchemes.isEmpty { return nil }
        guard case .ineligible(let reason) = catalog().eligibility(of: item.type, kind: item.kind.fileKind) else {
            return nil
        }
        return reason
    }

    /// All possible handlers, in order: the handler in the user's rules, the handler that opens a received URL if that
    /// is allowed, the handlers of the type, the hook. An item that the user keeps in the Inbox on purpose gets no
    /// further handler. A rule that names a missing or disabled handler changes nothing.
    package func candidates(for subject: Subject) -> [Candidate] {
        let snapshot = catalog()
        let chosen = subject.chosen.flatMap { try? snapshot.bundle(named: $0) }
        if chosen?.identifier == .inbox { return [] }
        var candidates: [Candidate] = []
        if let chosen, snapshot.isEnabled(chosen) {
            candidates += (chosen.identifier == .hook ? hook : program(chosen)).map { [Candidate(program: $0)] } ?? []
        }
        candidates += usualCandidates(for: subject, snapshot).filter { candidate in
            !candidates.contains { $0.program.identifier == candidate.program.identifier }
        }
        return candidates
    }

    /// The programs that run as long as the receiver does.
    package var keptPrograms: [HandlerProgram] { residentPrograms.filter(\.keepsRunning) }

    /// The programs that stay for several arrivals.
    package var residentPrograms: [HandlerProgram] { programs.filter { $0.mode == .resident } }

    /// The programs of all enabled bundles.
    package var programs: [HandlerProgram] {
        let snapshot = catalog()
        return snapshot.bundles.filter(snapshot.isEnabled).compactMap(program)
    }

    private func usualCandidates(for subject: Subject, _ snapshot: CatalogSnapshot) -> [Candidate] {
        var candidates = subject.link.map { openers(of: $0, snapshot) } ?? []
        var isLeft = false
        for claim in snapshot.claimants(of: subject.type, kind: subject.kind.fileKind) {
            guard let program = program(claim.bundle) else {
                isLeft = claim.boundType != nil
                break
            }
            candidates.append(Candidate(program: program))
        }
        if let hook, !isLeft { candidates.append(Candidate(program: hook)) }
        return candidates
    }

    private func openers(of link: URLParts, _ snapshot: CatalogSnapshot) -> [Candidate] {
        guard openedSchemes.contains(link.scheme) else { return [] }
        switch snapshot.schemeHandlers(for: link) {
        case .builtIn(let scheme):
            guard let opener, ["http", "https"].contains(scheme.text) else { return [] }
            return [Candidate(program: opener, link: link)]
        case .handlers(let claims):
            return claims.compactMap { program($0.bundle) }.map { Candidate(program: $0, link: link) }
        }
    }

    private func program(_ bundle: HandlerBundle) -> HandlerProgram? {
        HandlerProgram(bundle: bundle, defaultTimeLimit: defaultTimeLimit, requiresSandbox: requiresSandbox)
    }
}
