package import Sharing
package import UniformTypes

/// The place where a bundle is installed, in order of precedence.
package enum HandlerOrigin: Int, Hashable, Sendable, CaseIterable {
    /// The user's own folder.
    case user
    /// `/etc/waft/handlers`: handlers from this machine's administrator.
    case machine
    /// `/usr/share/waft/handlers`: handlers from packages.
    case distribution
    /// `hook:` in the configuration.
    case configuration
    /// Part of Waft itself.
    case builtIn
}

extension HandlerOrigin: Comparable {
    package static func < (left: HandlerOrigin, right: HandlerOrigin) -> Bool { left.rawValue < right.rawValue }
}

/// An installed handler: a folder `NAME.handler/` with an `Info.plist` and an executable.
package struct HandlerBundle: Hashable, Sendable {
    /// `CFBundleIdentifier`.
    package let identifier: BundleIdentifier
    /// `CFBundleVersion`; empty if it has none.
    package let version: String
    /// `CFBundleName`, or the folder's name if the key is missing.
    package let name: String
    /// The folder's name without `.handler`.
    package let folderName: String
    /// Absolute path of the bundle, or of the folder of the configuration's hook; empty for built-in handlers.
    package let path: String
    /// Absolute path of the handler's data folder, which may be missing; nil for a built-in handler.
    package let dataFolder: String?
    package let origin: HandlerOrigin
    /// The time since when the folder exists.
    package let installed: Timestamp
    /// Absolute path of `CFBundleExecutable`; nil for built-in handlers, which run no program.
    package let executable: String?
    /// Why the executable could not be started when the bundle was read, in words behind its path: `is missing`. Its owner
    /// was not checked, so the bundle is read again before the executable is started.
    package let programFault: String?
    package let documentTypes: [DocumentType]
    package let urlTypes: [URLType]
    /// The activities that it brings for the share sheet.
    package let activities: [HandlerActivity]
    /// `UTExportedTypeDeclarations`: the bundle's own types.
    package let exportedTypes: [TypeDeclaration]
    /// `UTImportedTypeDeclarations`: copies of the types of other bundles.
    package let importedTypes: [TypeDeclaration]
    package let launch: LaunchRules
    /// The settings that its `Settings.bundle` declares, with the user's values.
    package let settings: HandlerSettings
    /// Names in the user's languages, safe to show: that of the bundle by `nameKey`, others by the name itself.
    private let texts: [String: String]

    static let nameKey = "CFBundleName"

    package init(
        identifier: BundleIdentifier,
        version: String = "",
        name: String,
        folderName: String? = nil,
        path: String,
        dataFolder: String? = nil,
        origin: HandlerOrigin,
        installed: Timestamp,
        executable: String?,
        programFault: String? = nil,
        documentTypes: [DocumentType] = [],
        urlTypes: [URLType] = [],
        activities: [HandlerActivity] = [],
        exportedTypes: [TypeDeclaration] = [],
        importedTypes: [TypeDeclaration] = [],
        launch: LaunchRules = LaunchRules(),
        settings: HandlerSettings = .none,
        texts: [String: String] = [:]
    ) {
        self.identifier = identifier
        self.version = version
        self.name = name
        self.folderName = folderName ?? name
        self.path = path
        self.dataFolder = dataFolder
        self.origin = origin
        self.installed = installed
        self.executable = executable
        self.programFault = programFault
        self.documentTypes = documentTypes
        self.urlTypes = urlTypes
        self.activities = activities
        self.exportedTypes = exportedTypes
        self.importedTypes = importedTypes
        self.launch = launch
        self.settings = settings
        self.texts = texts
    }

    /// The bundle's name in the user's language; nil without a translation.
    package var localizedName: String? { texts[Self.nameKey] }

    /// The bundle's name for people, translated if possible.
    package var shownName: String { localizedName ?? name }

    /// A name in the bundle, such as that of a document type, in the user's language; nil without a translation.
    package func localized(_ name: String?) -> String? { name.flatMap { texts[$0] } }

    /// The handler for items that no other handler opens. It leaves them in the Inbox.
    package static let inbox = HandlerBundle(
        identifier: .inbox,
        name: "Inbox",
        path: "",
        origin: .builtIn,
        installed: Timestamp(seconds: 0, nanoseconds: 0),
        executable: nil,
        documentTypes: [DocumentType(name: "Anything", contents: .types([.item]), rank: .alternate)]
    )

    /// The name of the hook of the configuration among handlers.
    static let hookName = "hook"

    package var isBuiltIn: Bool { origin == .builtIn }

    /// The group in the order: installed handlers, then the hook of the configuration, then built-in handlers.
    var resort: Int {
        switch origin {
        case .user, .machine, .distribution: 0
        case .configuration: 1
        case .builtIn: 2
        }
    }

    /// Orders by the time of installation; of two installed at once, by the identifier.
    static func isInstalledBefore(_ left: HandlerBundle, _ right: HandlerBundle) -> Bool {
        let (one, other) = (left.installed, right.installed)
        if one == other { return left.identifier < right.identifier }
        return (one.seconds, one.nanoseconds) < (other.seconds, other.nanoseconds)
    }
}

/// A problem with a bundle, or with the user's choices.
package struct HandlerProblem: Hashable, Sendable {
    package enum Severity: String, Hashable, Sendable {
        /// The bundle is not used.
        case unusable
        /// The bundle is used, except for a part.
        case warning
    }

    /// Absolute path of the folder or file that has the problem.
    package let path: String
    /// The folder's name without `.handler`, or the file's.
    package let name: String
    /// Nil if it could not be read, and for a problem that concerns no bundle.
    package let identifier: BundleIdentifier?
    package let severity: Severity
    /// One line for people, lower case. May quote the bundle: it is foreign text.
    package let reason: String

    init(path: String, name: String, identifier: BundleIdentifier?, severity: Severity, reason: String) {
        self.path = path
        self.name = name
        self.identifier = identifier
        self.severity = severity
        self.reason = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
