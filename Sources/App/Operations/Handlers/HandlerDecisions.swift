import ContentCheck
import Foundation
import HandlerCatalog
import ItemSources
package import Lines
import Sharing
import UniformTypes

extension InstalledHandlers {
    /// The decisions of the handlers as they stand now. No handler is started.
    /// - Parameter name: the type to assume for all items; nil for the type of each.
    /// - Throws: `WaftError` `usage` if there is no such type.
    package func decisions(assuming name: String? = nil) throws(WaftError) -> HandlerDecisions {
        let view = view()
        let type = try WaftError.catching { () throws(CatalogError) in
            try name.map { name throws(CatalogError) in try view.snapshot.registry.type(named: name) }
        }
        return HandlerDecisions(view: view, type: type, openedSchemes: openedSchemes)
    }

    /// The decision about a type, a URL, or an item of which only the name is known.
    package func decision(about text: String) -> HandlerDecisions.Decision {
        let view = view()
        func decisions(_ type: UniformType?) -> HandlerDecisions {
            HandlerDecisions(view: view, type: type, openedSchemes: openedSchemes)
        }
        let registry = view.snapshot.registry
        let named = UniformType(text).flatMap { registry.types.contains($0) ? $0 : nil }
        if named == nil, let url = try? HandlerDecisions.url(text) { return .scheme(decisions(nil).line(url)) }
        let type = named ?? registry.type(forFileName: PathText.lastName(of: text), kind: .regularFile)
        return .item(decisions(type).line(nil, exists: nil, type, nil, nil))
    }
}

/// The decisions which handlers would get items and URLs.
package struct HandlerDecisions {
    package enum Decision {
        case item(HandlerDecisionLine)
        case scheme(SchemeDecisionLine)
    }

    private let view: HandlerView
    /// The type to assume for all items.
    private let type: UniformType?
    private let openedSchemes: Set<URLScheme>
    private let checker: ContentChecker

    private var snapshot: CatalogSnapshot { view.snapshot }

    fileprivate init(view: HandlerView, type: UniformType?, openedSchemes: Set<URLScheme>) {
        (self.view, self.type, self.openedSchemes) = (view, type, openedSchemes)
        checker = ContentChecker(types: view.snapshot.registry)
    }

    /// The decision about the assumed type, for any name of the item; nil without one.
    package var ofType: HandlerDecisionLine? { type.map { line(nil, exists: nil, $0, nil, nil) } }

    /// - Parameter text: a path or, without an assumed type, a URL. A file of that name is a file.
    /// - Throws: `WaftError`: `inputMissing` if there is no such file, `usage` if it can only be a URL, and is none.
    package func decide(_ text: String) throws(WaftError) -> Decision {
        if type == nil, let url = try Self.url(text) { return .scheme(line(url)) }
        return .item(try line(ofPath: text))
    }

    // MARK: Items

    /// The disk is read.
    private func line(ofPath path: String) throws(WaftError) -> HandlerDecisionLine {
        let registry = snapshot.registry
        var status = stat()
        let isThere = !path.utf8.contains(0) && stat(path, &status) == 0
        if !isThere, let type { return line(path, exists: false, type, nil, nil) }
        if isThere, status.st_mode & S_IFMT == S_IFDIR {
            // The folder is not walked, as it is for sending: its contents do not affect the decision.
            let name = URL(fileURLWithPath: path).standardizedFileURL.lastPathComponent
            return line(
                path, exists: true, type ?? registry.type(forFileName: name, kind: .directory), .directory, nil)
        }
        do throws(SourceError) {
            let type = try ItemSources.make(path: path, type: type, registry: registry).offered.type
            return line(path, exists: true, type, .regularFile, look(into: path, type))
        } catch {
            throw WaftError(WaftExit(error), error.message, hint: isThere ? nil : hint(path))
        }
    }

    /// The question to ask instead about a file that does not exist.
    private func hint(_ path: String) -> String? {
        let name = PathText.lastName(of: path)
        guard !name.isEmpty else { return nil }
        let type = snapshot.registry.type(forFileName: name, kind: .regularFile)
        return "to test the type of such a file: waft handlers test --type \(type)"
    }

    private func look(into path: String, _ declared: UniformType) -> (verdict: ContentVerdict, words: String)? {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        let size = UInt64(max(0, status.st_size))
        return (
            checker.check(descriptor: file, declared: declared, size: size),
            checker.description(descriptor: file, size: size)
        )
    }

    fileprivate func line(
        _ path: String?, exists: Bool?, _ type: UniformType, _ kind: FileKind?,
        _ finding: (verdict: ContentVerdict, words: String)?
    ) -> HandlerDecisionLine {
        let verdict = finding?.verdict
        let handedOnAs = verdict?.outcome == .mislabelled ? verdict?.contentType ?? type : type
        let eligibility = snapshot.eligibility(of: type, kind: kind)
        var line = HandlerDecisionLine(
            type: type.identifier, handedOnAs: handedOnAs.identifier, eligible: eligibility.isEligible)
        (line.path, line.exists) = (path, exists)
        line.kind = kind.map { ($0 == .directory ? ItemKind.tree : .file).rawValue }
        line.description = snapshot.registry.description(of: type)
        line.handedOnDescription = snapshot.registry.description(of: handedOnAs)
        (line.content, line.contentType) = (verdict?.outcome.rawValue, verdict?.contentType?.identifier)
        line.contentExplanation = verdict?.explanation
        line.contentWords = finding.map { $0.verdict.contentType.map(snapshot.registry.name) ?? $0.words }
        if case .ineligible(let reason) = eligibility { line.reason = reason }
        line.isEligibilityRuled = snapshot.rule == .handlers
        let claims = snapshot.claimants(of: handedOnAs, kind: kind)
        line.claimants = claims.map { claim in
            var claimant = HandlerClaimant(claim.bundle, claim.role, defaultFor: claim.boundType?.identifier)
            (claimant.type, claimant.steps) = (claim.claimedType.identifier, claim.steps)
            (claimant.rank, claimant.declaredRank) = (claim.rank.rawValue, claim.declaredRank.rawValue)
            (claimant.decidedBy, claimant.explanation) = (claim.decidedBy?.rawValue, claim.explanation)
            return claimant
        }
        line.passedOver = snapshot.passedOver(handedOnAs, kind: kind).map(PassedOverHandler.init)
        // The list ends at a built-in one: it keeps the item in the Inbox.
        let isAsked = verdict?.outcome != .lying && eligibility.isEligible
        line.asked = isAsked ? claims.prefix { !$0.bundle.isBuiltIn }.map { asked($0.bundle) } : []
        return line
    }

    private func asked(_ bundle: HandlerBundle) -> AskedHandler {
        AskedHandler(
            name: bundle.name, identifier: bundle.identifier.text,
            sandbox: bundle.executable.map { _ in bundle.launch.sandbox.rawValue },
            permissions: view.permissions(bundle), shownName: bundle.shownName)
    }

    // MARK: URLs

    /// The URL in the text; nil if the text is a file, or looks like one.
    fileprivate static func url(_ text: String) throws(WaftError) -> URLParts? {
        var status = stat()
        guard lstat(text, &status) != 0, let colon = text.firstIndex(of: ":"),
            URLScheme(String(text[..<colon])) != nil
        else { return nil }
        do throws(URLPartsError) {
            return try URLParts(text)
        } catch {
            // `notes: monday.txt` is more likely a file that does not exist.
            guard text[colon...].hasPrefix("://") else {
                throw WaftError(
                    .inputMissing, "\(ShownText.line(text, limit: 200)): there is no such file, and as a URL: \(error)")
            }
            throw WaftError(.usage, "\(ShownText.line(text, limit: 200)): \(error)")
        }
    }

    fileprivate func line(_ url: URLParts) -> SchemeDecisionLine {
        let scheme = url.scheme
        let (isBuiltIn, claims): (Bool, [SchemeClaim]) =
            switch snapshot.schemeHandlers(for: url) {
            case .builtIn: (true, [])
            case .handlers(let claims): (false, claims)
            }
        var line = SchemeDecisionLine(
            parts: .init(url), builtIn: isBuiltIn, openedWhenReceived: openedSchemes.contains(scheme),
            openedSchemes: snapshot.openedSchemes.map(\.text))
        line.claimants = claims.map {
            HandlerClaimant($0.bundle, $0.role, defaultFor: $0.isDefault ? scheme.text : nil)
        }
        let chosen = Set(claims.map(\.bundle.identifier))
        // Handlers that declare the scheme but cannot open the URL.
        line.passedOver = snapshot.bundles.compactMap { bundle in
            guard let first = bundle.urlTypes.first(where: { $0.schemes.contains(scheme) }),
                !chosen.contains(bundle.identifier)
            else { return nil }
            return snapshot.isEnabled(bundle)
                ? PassedOverHandler(
                    bundle, .role,
                    reason: "its role for \(scheme): URLs is \(first.role.rawValue): it does not open them")
                : PassedOverHandler(bundle, .disabled, reason: "it is disabled")
        }
        line.asked = claims.map { asked($0.bundle) }
        return line
    }
}

extension HandlerClaimant {
    fileprivate init(_ bundle: HandlerBundle, _ role: HandlerRole, defaultFor: String?) {
        self.init(
            name: bundle.name, identifier: bundle.identifier.text, role: role.rawValue, shownName: bundle.shownName)
        self.defaultFor = defaultFor
    }
}

extension PassedOverHandler {
    fileprivate init(_ bundle: HandlerBundle, _ obstacle: ChoiceObstacle, reason: String) {
        self.init(
            name: bundle.name, identifier: bundle.identifier.text, obstacle: obstacle.rawValue, reason: reason,
            shownName: bundle.shownName)
    }
}

extension SchemeDecisionLine.Parts {
    fileprivate init(_ url: URLParts) {
        self.init(url: url.text, scheme: url.scheme.text, path: url.path)
        (user, password, host, port) = (url.user, url.password, url.host, url.port)
        (pathSegments, query, fragment) = (url.pathSegments, url.query, url.fragment)
        queryItems = url.queryItems?.map { .init(name: $0.name, value: $0.value) }
    }
}
