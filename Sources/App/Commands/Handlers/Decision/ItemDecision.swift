import ContentCheck
import Foundation
import HandlerCatalog
import ItemSources
import Lines
import Sharing
import UniformTypes

/// The decision which handlers would get an item that is sent here, with all facts that it depends on.
struct ItemDecision {
    /// The result of reading the content.
    struct Finding {
        var verdict: ContentVerdict
        var words: String
    }

    /// The path as it was typed; nil if only a type was given.
    var path: String?
    /// Whether the path exists.
    var exists = false
    /// The type with which the item would be offered.
    var type: UniformType
    var kind: FileKind?
    /// Nil for folders, and for a path that does not exist.
    var finding: Finding?
    /// Whether such an item could be sent here at all.
    var eligibility: Eligibility
    /// The type with which the item would be handed on.
    var handedOnAs: UniformType
    var claims: [Claim]
    var passedOver: [(bundle: HandlerBundle, reason: String)]

    /// Handlers that would be asked, in order. The list ends at a built-in one: it keeps the item in the Inbox.
    var asked: [Claim] {
        isLying || !eligibility.isEligible ? [] : Array(claims.prefix { !$0.bundle.isBuiltIn })
    }

    var isLying: Bool { finding?.verdict.outcome == .lying }

    /// The decision about a type, for any name of the item.
    init(type: UniformType, in snapshot: CatalogSnapshot) {
        self.init(nil, type, nil, nil, snapshot)
    }

    /// The decision about a file or folder. The disk is read.
    ///
    /// - Parameter declared: the type of the item; nil for the type of its name. With a type, the path need not exist.
    /// - Throws: `CommandError` `inputMissing`.
    init(
        path: String,
        as declared: UniformType?,
        in snapshot: CatalogSnapshot,
        _ checker: ContentChecker
    ) throws(CommandError) {
        var status = stat()
        let isThere = !path.utf8.contains(0) && stat(path, &status) == 0
        if !isThere, let declared {
            self.init(path, declared, nil, nil, snapshot)
            return
        }
        if isThere, status.st_mode & S_IFMT == S_IFDIR {
            // The folder is not walked, as it is for sending: its contents do not affect the decision.
            let name = URL(fileURLWithPath: path).standardizedFileURL.lastPathComponent
            let type = declared ?? snapshot.registry.type(forFileName: name, kind: .directory)
            self.init(path, type, .directory, nil, snapshot)
            exists = true
            return
        }
        do throws(SourceError) {
            let offered = try ItemSources.make(path: path, type: declared, registry: snapshot.registry).offered
            let finding = Self.look(into: path, offered.type, checker)
            self.init(path, offered.type, .regularFile, finding, snapshot)
            exists = true
        } catch {
            let hint = isThere ? nil : Self.hint(path, snapshot.registry)
            throw CommandError(WaftExit(error), TerminalText.escaped(error.message), hint: hint)
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

    /// The question to ask instead about a file that does not exist.
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
