import Foundation
import HandlerCatalog
import Sharing
import UniformTypes

/// A handler for programs: one JSON document. New fields can come.
struct HandlerFields: Encodable {
    struct TypeClaim: Encodable {
        var type: String
        var name: String?
        /// `name` in the user's language; absent without a translation, also below.
        var localizedName: String?
        var rank: String
        var role: String
        /// Whether it is asked to open them.
        var opens: Bool
    }

    struct SchemeClaim: Encodable {
        var scheme: String
        var name: String?
        var localizedName: String?
        var role: String
        var opens: Bool
    }

    struct Declaration: Encodable {
        var type: String
        var description: String?
        var conformsTo: [String]
        var extensions: [String]
        var mimeTypes: [String]

        init(_ declaration: TypeDeclaration) {
            type = declaration.type.identifier
            description = declaration.description
            conformsTo = declaration.parents.map(\.identifier)
            extensions = declaration.extensions
            mimeTypes = declaration.mimeTypes
        }
    }

    struct BroughtActivity: Encodable {
        var type: String
        var title: String
        var category: String
        var itemTypes: [String]
        var maximumItems: Int?

        init(_ activity: HandlerActivity, _ bundle: HandlerBundle) {
            (type, category, maximumItems) = (activity.type, activity.category.rawValue, activity.maximumItems)
            title = bundle.localized(activity.title) ?? activity.title
            itemTypes = activity.itemTypes.map(\.identifier)
        }
    }

    var name: String
    var localizedName: String?
    var identifier: String
    var enabled: Bool
    /// `user`, `machine`, `distribution`, `configuration` or `builtIn`.
    var origin: String
    var path: String?
    var version: String?
    /// The handler may write to this folder, which is kept when the handler is removed.
    var dataFolder: String?
    var executable: String?
    var installed: String?
    var documentTypes: [TypeClaim]
    var urlTypes: [SchemeClaim]
    /// Absent if it brings none.
    var activities: [BroughtActivity]?
    var defaultTypes: [String]
    var defaultSchemes: [String]
    var launch: String?
    var launchCalls: [String]?
    /// True if it takes sealed items as streams; otherwise absent.
    var streams: Bool?
    var sandbox: String?
    /// Absent without a sandbox.
    var permissions: HandlerPermissions?
    /// Paths as the bundle declares them.
    var readable: [String]?
    var writable: [String]?
    /// In seconds.
    var timeLimit: Double?
    var exports: [Declaration]
    var imports: [Declaration]
    var warnings: [String]
}

/// Something wrong with a handler, for programs.
struct HandlerProblemFields: Encodable {
    /// `unusable` or `warning`.
    var severity: String
    var name: String
    var identifier: String?
    var path: String
    var reason: String
    /// Advice about the problem.
    var hint: String
}

extension HandlerText {
    func fields(_ bundle: HandlerBundle) -> HandlerFields {
        let rules = bundle.executable == nil ? nil : bundle.launch
        let time = Date(timeIntervalSince1970: Double(bundle.installed.seconds))
        return HandlerFields(
            name: bundle.name,
            localizedName: bundle.localizedName,
            identifier: bundle.identifier.text,
            enabled: isEnabled(bundle),
            origin: bundle.origin.word,
            path: bundle.path.isEmpty ? nil : bundle.path,
            version: bundle.version.isEmpty ? nil : bundle.version,
            dataFolder: bundle.dataFolder,
            executable: bundle.executable,
            installed: bundle.installed.seconds == 0 ? nil : time.formatted(.iso8601),
            documentTypes: bundle.documentTypes.flatMap { claim in
                claim.types(in: snapshot.registry).map { type in
                    HandlerFields.TypeClaim(
                        type: type.identifier, name: claim.name, localizedName: bundle.localized(claim.name),
                        rank: claim.rank.rawValue, role: claim.role.rawValue,
                        opens: claim.rank != .none && claim.role.opens)
                }
            },
            urlTypes: bundle.urlTypes.flatMap { claim in
                claim.schemes.map { scheme in
                    HandlerFields.SchemeClaim(
                        scheme: scheme.text, name: claim.name, localizedName: bundle.localized(claim.name),
                        role: claim.role.rawValue, opens: claim.role.opens)
                }
            },
            activities: bundle.activities.isEmpty
                ? nil : bundle.activities.map { HandlerFields.BroughtActivity($0, bundle) },
            defaultTypes: typesDefault(of: bundle).map(\.identifier),
            defaultSchemes: schemesDefault(of: bundle).map(\.text),
            launch: rules?.mode.rawValue,
            launchCalls: rules?.callWords,
            streams: rules?.takesStreams == true ? true : nil,
            sandbox: rules?.sandbox.rawValue,
            permissions: permissions(of: bundle),
            readable: rules?.readablePaths,
            writable: rules?.writablePaths,
            timeLimit: rules.map { Self.number($0.timeout ?? place.usualTimeLimit) },
            exports: bundle.exportedTypes.map(HandlerFields.Declaration.init),
            imports: bundle.importedTypes.map(HandlerFields.Declaration.init),
            warnings: troubles(bundle)
        )
    }

    func fields(_ problem: HandlerProblem) -> HandlerProblemFields {
        HandlerProblemFields(
            severity: problem.severity.rawValue,
            name: problem.name,
            identifier: problem.identifier?.text,
            path: problem.path,
            reason: problem.reason,
            hint: remedy(problem)
        )
    }

    private static func number(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

extension HandlerOrigin {
    /// For programs.
    var word: String {
        switch self {
        case .user: "user"
        case .machine: "machine"
        case .distribution: "distribution"
        case .configuration: "configuration"
        case .builtIn: "builtIn"
        }
    }
}
