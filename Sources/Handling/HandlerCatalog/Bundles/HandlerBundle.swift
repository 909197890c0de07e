package import Sharing
package import UniformTypes

/// Where a bundle comes from, the one that goes first first.
package enum HandlerOrigin: Int, Hashable, Sendable, CaseIterable {
    /// The user's own folder.
    case user
    /// `/etc/waft/handlers`: whoever looks after this machine.
    case machine
    /// `/usr/share/waft/handlers`: packages.
    case distribution
    /// `hook:` in the configuration.
    case configuration
    /// Waft itself.
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
    /// `CFBundleName`, or the folder's name where it has none.
    package let name: String
    /// The folder's name without `.handler`.
    package let folderName: String
    /// Absolute path of the folder, for the hook of the configuration of the one it lies in; empty for what is built in.
    package let path: String
    /// Absolute path of the handler's data folder, which may be missing; nil for a built-in handler.
    package let dataFolder: String?
    package let origin: HandlerOrigin
    /// Since when the folder is there.
    package let installed: Timestamp
    /// Absolute path of `CFBundleExecutable`; nil for what is built in, which has nothing to run.
    package let executable: String?
    package let documentTypes: [DocumentType]
    package let urlTypes: [URLType]
    /// `UTExportedTypeDeclarations`: types of its own.
    package let exportedTypes: [TypeDeclaration]
    /// `UTImportedTypeDeclarations`: copies of others' types.
    package let importedTypes: [TypeDeclaration]
    package let launch: LaunchRules
    /// Names in the user's languages, fit to be shown: that of the bundle by `nameKey`, others by the name itself.
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
        documentTypes: [DocumentType] = [],
        urlTypes: [URLType] = [],
        exportedTypes: [TypeDeclaration] = [],
        importedTypes: [TypeDeclaration] = [],
        launch: LaunchRules = LaunchRules(),
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
        self.documentTypes = documentTypes
        self.urlTypes = urlTypes
        self.exportedTypes = exportedTypes
        self.importedTypes = importedTypes
        self.launch = launch
        self.texts = texts
    }

    /// The bundle's name in the user's language; nil without a translation.
    package var localizedName: String? { texts[Self.nameKey] }

    /// The bundle's name for people, translated if possible.
    package var shownName: String { localizedName ?? name }

    /// A name in the bundle, such as that of a document type, in the user's language; nil for no translation.
    package func localized(_ name: String?) -> String? { name.flatMap { texts[$0] } }

    /// The handler that takes what no other does, and leaves it in the Inbox.
    package static let inbox = HandlerBundle(
        identifier: .inbox,
        name: "Inbox",
        path: "",
        origin: .builtIn,
        installed: Timestamp(seconds: 0, nanoseconds: 0),
        executable: nil,
        documentTypes: [DocumentType(name: "Anything", contents: .types([.item]), rank: .alternate)]
    )

    /// What the hook of the configuration is called among handlers.
    static let hookName = "hook"

    package var isBuiltIn: Bool { origin == .builtIn }

    /// Which resort it is: what is installed, then the hook of the configuration, then what is built in.
    var resort: Int {
        switch origin {
        case .user, .machine, .distribution: 0
        case .configuration: 1
        case .builtIn: 2
        }
    }

    /// The one installed first comes first; of two installed at once, the one whose identifier does.
    static func isInstalledBefore(_ left: HandlerBundle, _ right: HandlerBundle) -> Bool {
        let (one, other) = (left.installed, right.installed)
        if one == other { return left.identifier < right.identifier }
        return (one.seconds, one.nanoseconds) < (other.seconds, other.nanoseconds)
    }
}

/// Something wrong with a bundle, or with what the user chose.
package struct HandlerProblem: Hashable, Sendable {
    package enum Severity: String, Hashable, Sendable {
        /// The bundle is not used.
        case unusable
        /// It is used, but for a part.
        case warning
    }

    /// Absolute path of the folder or file that has the problem.
    package let path: String
    /// The folder's name without `.handler`, or the file's.
    package let name: String
    /// Nil where it could not be read, and where it is about no bundle.
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
