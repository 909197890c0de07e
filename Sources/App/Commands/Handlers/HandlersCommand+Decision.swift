import ContentCheck
import Foundation
import HandlerCatalog
import ItemSources
import Sharing
import UniformTypes

/// Who would get an item that is sent here, and all that this depends on.
struct ItemDecision {
    /// What its content says.
    struct Finding {
        var verdict: ContentVerdict
        var words: String
    }

    /// As it was typed; nil for a type alone.
    var path: String?
    /// Whether something is there.
    var exists = false
    /// What it would be offered as.
    var type: UniformType
    var kind: FileKind?
    /// Nil for folders, and for what is not there.
    var finding: Finding?
    /// Whether such an item could be sent here at all.
    var eligibility: Eligibility
    /// What it would be handed on as.
    var handedOnAs: UniformType
    var claims: [Claim]
    var passedOver: [(bundle: HandlerBundle, reason: String)]

    /// Those that would be asked, in order: what the user leaves in the Inbox on purpose goes to nobody after that.
    var asked: [Claim] {
        isLying || !eligibility.isEligible ? [] : Array(claims.prefix { !$0.bundle.isBuiltIn })
    }

    var isLying: Bool { finding?.verdict.outcome == .lying }

    /// The decision about a type, whatever the item is called.
    init(type: UniformType, in snapshot: CatalogSnapshot) {
        self.init(nil, type, nil, nil, snapshot)
    }

    /// The decision about a file or folder. The disk is read.
    ///
    /// - Parameter declared: what to take it for; nil for what its name says. With it nothing need be there.
    /// - Throws: `CommandFailure` `inputMissing`.
    init(
        path: String,
        as declared: UniformType?,
        in snapshot: CatalogSnapshot,
        _ checker: ContentChecker
    ) throws(CommandFailure) {
        var status = stat()
        let isThere = !path.utf8.contains(0) && stat(path, &status) == 0
        if !isThere, let declared {
            self.init(path, declared, nil, nil, snapshot)
            return
        }
        if isThere, status.st_mode & S_IFMT == S_IFDIR {
            // Not gone through, as for sending: what is in it decides nothing.
            let name = URL(fileURLWithPath: path).standardizedFileURL.lastPathComponent
            let type = declared ?? snapshot.registry.type(forFileName: name, kind: .directory)
            self.init(path, type, .directory, nil, snapshot)
            exists = true
            return
        }
        do throws(SourceFault) {
            let offered = try ItemSources.make(path: path, type: declared, registry: snapshot.registry).offered
            let finding = Self.look(into: path, offered.type, checker)
            self.init(path, offered.type, .regularFile, finding, snapshot)
            exists = true
        } catch {
            let hint = isThere ? nil : Self.hint(path, snapshot.registry)
            throw CommandFailure(WaftExit(error), TerminalText.escaped(error.message), hint: hint)
        }
    }

    private init(
        _ path: String?,
        _ type: UniformType,
        _ kind: FileKind?,
        _ finding: Finding?,
        _ snapshot: CatalogSnapshot
    ) {
        (self.path, self.type, self.kind, self.finding) = (path, type, kind, finding)
        eligibility = snapshot.eligibility(of: type, kind: kind)
        let verdict = finding?.verdict
        handedOnAs = verdict?.outcome == .mislabelled ? verdict?.contentType ?? type : type
        claims = snapshot.claimants(of: handedOnAs, kind: kind)
        passedOver = snapshot.passedOver(handedOnAs, kind: kind)
    }

    /// What to ask instead of about a file that is not there.
    private static func hint(_ path: String, _ registry: TypeRegistry) -> String? {
        let name = PathText.lastName(of: path)
        guard !name.isEmpty else { return nil }
        let type = registry.type(forFileName: name, kind: .regularFile)
        return "to test the type of such a file: waft handlers test --type \(type)"
    }

    private static func look(into path: String, _ declared: UniformType, _ checker: ContentChecker) -> Finding? {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        let size = UInt64(max(0, status.st_size))
        return Finding(
            verdict: checker.check(descriptor: file, declared: declared, size: size),
            words: checker.description(descriptor: file, size: size)
        )
    }
}

/// Who would open a URL.
struct SchemeChoice {
    let url: URLParts
    let decision: SchemeDecision
    /// Handlers that would open it but for something, and what that is.
    let passedOver: [(bundle: HandlerBundle, reason: String)]

    init(_ url: URLParts, in snapshot: CatalogSnapshot) {
        self.url = url
        decision = snapshot.schemeHandlers(for: url)
        let chosen = Set(claims(decision).map(\.bundle.identifier))
        passedOver = snapshot.bundles.compactMap { bundle in
            let types = bundle.urlTypes.filter { $0.schemes.contains(url.scheme) }
            guard let first = types.first, !chosen.contains(bundle.identifier) else { return nil }
            if !snapshot.isEnabled(bundle) { return (bundle, "it is disabled") }
            return (bundle, "its role for \(url.scheme): URLs is \(first.role.rawValue): it does not open them")
        }
    }

    /// The handlers to be asked, in order; none for a scheme that is built in.
    var asked: [SchemeClaim] { claims(decision) }
}

private func claims(_ decision: SchemeDecision) -> [SchemeClaim] {
    switch decision {
    case .builtIn: []
    case .handlers(let claims): claims
    }
}
