package import HandlerCatalog
package import Sharing
package import UniformTypes

/// Who is asked about an arrival, the one to be asked first first.
package struct HandlerChoice: Sendable {
    /// One that can be asked.
    package struct Candidate: Hashable, Sendable {
        package var program: HandlerProgram
        /// The URL that it is to open; nil for the file itself.
        package var link: URLParts?

        package init(program: HandlerProgram, link: URLParts? = nil) {
            self.program = program
            self.link = link
        }
    }

    /// What the choice depends on.
    package struct Subject: Hashable, Sendable {
        package var type: UniformType
        package var kind: ItemKind
        /// Of a received URL, where it can be read.
        package var link: URLParts?
        /// The identifier or name of the handler that the user's rules send it to; nil for the usual ones.
        package var chosen: String?

        package init(type: UniformType, kind: ItemKind, link: URLParts? = nil, chosen: String? = nil) {
            self.type = type
            self.kind = kind
            self.link = link
            self.chosen = chosen
        }
    }

    private let catalog: @Sendable () -> CatalogSnapshot
    private let hook: HandlerProgram?
    private let openedSchemes: Set<URLScheme>
    private let opener: HandlerProgram?
    private let defaultTimeLimit: Duration
    private let requiresSandbox: Bool

    /// - Parameters:
    ///   - catalog: the handlers as they are now.
    ///   - hook: the hook of the configuration, which takes what no installed handler does.
    ///   - openedSchemes: schemes of received URLs that are opened, not only stored (`openReceivedURLs`).
    ///   - opener: what opens `http:` and `https:` URLs; nil where there is nothing of the kind.
    ///   - defaultTimeLimit: for handlers that name none.
    ///   - requiresSandbox: whether handlers that are to be restricted may not run where they cannot be.
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

    /// Whether anybody will be asked about such an item, as far as can be known before it is there.
    package func takes(_ facts: ArrivalFacts) -> Bool {
        if facts.item.kind == .url, !openedSchemes.isEmpty { return true }
        let subject = Subject(type: facts.type, kind: facts.item.kind, chosen: facts.destination.handler)
        return !candidates(for: subject).isEmpty
    }

    /// Why an item cannot be sent here, in one line; nil for one that can.
    package func refusal(of item: OfferedItem) -> String? {
        if hook != nil || item.kind == .url && !openedSchemes.isEmpty { return nil }
        guard case .ineligible(let reason) = catalog().eligibility(of: item.type, kind: item.kind.fileKind) else {
            return nil
        }
        return reason
    }

    /// All who can be asked, in order: the handler that the user's rules name, whoever opens a received URL where that is
    /// allowed, then the handlers of the type, then the hook. What the user leaves in the Inbox on purpose is handed to
    /// nobody after that. A rule that names a handler which is not there, or not enabled, changes nothing.
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
