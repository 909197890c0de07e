/// A handler: a program that opens arrivals and URLs, or the Inbox. New fields can come.
package struct HandlerLine: Line {
    package static let event = "handler"

    package struct TypeClaim: Encodable, Sendable {
        package let type: String
        package let name: String?
        /// `name` in the user's language; absent without a translation, also below.
        package let localizedName: String?
        package let rank: String
        package let role: String
        /// Whether it is asked to open them.
        package let opens: Bool

        package init(type: String, name: String?, localizedName: String?, rank: String, role: String, opens: Bool) {
            (self.type, self.name, self.localizedName) = (type, name, localizedName)
            (self.rank, self.role, self.opens) = (rank, role, opens)
        }
    }

    package struct SchemeClaim: Encodable, Sendable {
        package let scheme: String
        package let name: String?
        package let localizedName: String?
        package let role: String
        package let opens: Bool

        package init(scheme: String, name: String?, localizedName: String?, role: String, opens: Bool) {
            (self.scheme, self.name, self.localizedName) = (scheme, name, localizedName)
            (self.role, self.opens) = (role, opens)
        }
    }

    /// A type that its bundle declares.
    package struct Declaration: Encodable, Sendable {
        package let type: String
        package let description: String?
        package let conformsTo: [String]
        package let extensions: [String]
        package let mimeTypes: [String]

        package init(
            type: String, description: String?, conformsTo: [String], extensions: [String], mimeTypes: [String]
        ) {
            (self.type, self.description, self.conformsTo) = (type, description, conformsTo)
            (self.extensions, self.mimeTypes) = (extensions, mimeTypes)
        }
    }

    /// An activity that it brings for the share sheet.
    package struct Activity: Encodable, Sendable {
        package let type: String
        package let title: String
        package let category: String
        package let itemTypes: [String]
        package let maximumItems: Int?

        package init(type: String, title: String, category: String, itemTypes: [String], maximumItems: Int?) {
            (self.type, self.title, self.category) = (type, title, category)
            (self.itemTypes, self.maximumItems) = (itemTypes, maximumItems)
        }
    }

    /// The place where it is installed.
    package enum Origin: String, Encodable, Sendable {
        case user, machine, distribution, configuration, builtIn
    }

    package let name: String
    package var localizedName: String?
    package let identifier: String
    package var enabled: Bool
    package let origin: Origin
    package var path: String?
    package var version: String?
    /// The handler may write to this folder, which is kept when the handler is removed.
    package var dataFolder: String?
    package var executable: String?
    package var installed: LineTime?
    package var documentTypes: [TypeClaim] = []
    package var urlTypes: [SchemeClaim] = []
    /// Absent if it brings none.
    package var activities: [Activity]?
    package var defaultTypes: [String] = []
    package var defaultSchemes: [String] = []
    package var launch: String?
    package var launchCalls: [String]?
    /// True if it takes sealed items as streams; otherwise absent.
    package var streams: Bool?
    package var sandbox: String?
    /// Absent without a sandbox.
    package var permissions: HandlerPermissions?
    /// Paths as the bundle declares them.
    package var readable: [String]?
    package var writable: [String]?
    /// In seconds.
    package var timeLimit: Double?
    package var exports: [Declaration] = []
    package var imports: [Declaration] = []
    package var warnings: [String] = []
    /// True if one of them keeps it from starting; otherwise absent.
    package var cannotStart: Bool?
    /// Whether the time limit is that of the settings.
    @Unsaid package var hasUsualTimeLimit = false
    /// Those of `launchCalls` that tell of locks, and do not ask.
    @Unsaid package var notices: [String] = []

    package init(name: String, identifier: String, origin: Origin, enabled: Bool) {
        (self.name, self.identifier, self.origin, self.enabled) = (name, identifier, origin, enabled)
    }
}

/// Permissions of a handler in its sandbox.
package struct HandlerPermissions: Encodable, Sendable {
    /// Absolute paths that it may read besides the system's folders, its bundle, the Inbox and `writes`.
    package let reads: [String]
    /// Absolute paths that it may write besides the temporary folder of each call; the data folder is the first.
    package let writes: [String]
    package let network: Bool
    /// Whether it may connect to Unix sockets.
    package let sockets: Bool
    /// Names of variables of the receiver's environment that its bundle names.
    package let environment: [String]
    /// Whether it may signal processes that it did not start.
    package private(set) var signals = false
    /// Describes which of these rules the kernel can enforce.
    package let kernel: String
    @Unsaid package private(set) var dataFolder: String?

    /// - Parameter writes: paths besides the data folder.
    package init(
        reads: [String], dataFolder: String?, writes: [String], network: Bool, sockets: Bool, environment: [String],
        kernel: String
    ) {
        (self.reads, self.writes) = (reads, [dataFolder].compactMap(\.self) + writes)
        (self.network, self.sockets, self.environment, self.kernel) = (network, sockets, environment, kernel)
        _dataFolder = Unsaid(wrappedValue: dataFolder)
    }
}

/// A fault of a handler, of a folder of handlers, or of the user's choices.
package struct HandlerProblemLine: Line {
    package static let event = "problem"

    package enum Severity: String, Encodable, Sendable { case unusable, warning }

    package let severity: Severity
    package let name: String
    package let identifier: String?
    package let path: String
    package let reason: String
    /// Advice about the problem.
    package let hint: String

    package init(severity: Severity, name: String, identifier: String?, path: String, reason: String, hint: String) {
        (self.severity, self.name, self.identifier) = (severity, name, identifier)
        (self.path, self.reason, self.hint) = (path, reason, hint)
    }
}

package struct HandlerRemovedLine: Line {
    package static let event = "handlerRemoved"

    package let path: String
    /// The handler's data folder; absent if there is none.
    package let dataFolder: String?
    package let isDataRemoved: Bool
    /// Types and schemes whose default it was.
    package let forgottenTypes: [String]
    package let forgottenSchemes: [String]

    package init(
        path: String, dataFolder: String?, isDataRemoved: Bool, forgottenTypes: [String], forgottenSchemes: [String]
    ) {
        (self.path, self.dataFolder, self.isDataRemoved) = (path, dataFolder, isDataRemoved)
        (self.forgottenTypes, self.forgottenSchemes) = (forgottenTypes, forgottenSchemes)
    }
}

/// The handler that the user chose for a type or a scheme.
package struct HandlerDefaultLine: Line {
    package static let event = "default"

    package enum State: String, Encodable, Sendable { case enabled, disabled, missing }

    /// One of these two is there.
    package let type: String?
    package let scheme: String?
    /// The identifier of the handler; absent if there is none.
    package let handler: String?
    package let name: String?
    package let state: State?
    /// Whether the handler is the Inbox.
    @Unsaid package private(set) var isInbox: Bool

    package init(
        type: String? = nil, scheme: String? = nil, handler: String? = nil, name: String? = nil, state: State? = nil,
        isInbox: Bool = false
    ) {
        (self.type, self.scheme, self.handler, self.name, self.state) = (type, scheme, handler, name, state)
        _isInbox = Unsaid(wrappedValue: isInbox)
    }
}

// MARK: Decisions

/// A handler that could open an item or a URL.
package struct HandlerClaimant: Encodable, Sendable {
    package let name: String
    package let identifier: String
    /// The handler's type that covers the item, and the number of steps of conformance to it.
    package var type: String?
    package var steps: Int?
    package var rank: String?
    package var declaredRank: String?
    package let role: String
    /// The type or scheme for which the user chose this handler.
    package var defaultFor: String?
    /// The criterion that ranks this handler after the one before it.
    package var decidedBy: String?
    package var explanation: String?
    /// In the user's language, also below.
    @Unsaid package private(set) var shownName: String

    package init(name: String, identifier: String, role: String, shownName: String) {
        (self.name, self.identifier, self.role) = (name, identifier, role)
        _shownName = Unsaid(wrappedValue: shownName)
    }
}

/// A handler that could open it, and is not asked.
package struct PassedOverHandler: Encodable, Sendable {
    package let name: String
    package let identifier: String
    /// `disabled`, `rank` or `role`.
    package let obstacle: String
    package let reason: String
    @Unsaid package private(set) var shownName: String

    package init(name: String, identifier: String, obstacle: String, reason: String, shownName: String) {
        (self.name, self.identifier, self.obstacle, self.reason) = (name, identifier, obstacle, reason)
        _shownName = Unsaid(wrappedValue: shownName)
    }
}

/// A handler that would be asked.
package struct AskedHandler: Encodable, Sendable {
    package let name: String
    package let identifier: String
    /// `strict` or `none`; absent for one that is no program.
    package let sandbox: String?
    /// Absent without a sandbox.
    package let permissions: HandlerPermissions?
    @Unsaid package private(set) var shownName: String

    package init(
        name: String, identifier: String, sandbox: String?, permissions: HandlerPermissions?, shownName: String
    ) {
        (self.name, self.identifier, self.sandbox, self.permissions) = (name, identifier, sandbox, permissions)
        _shownName = Unsaid(wrappedValue: shownName)
    }
}

/// The decision which handlers would get an item that is sent here, with all facts that it depends on.
package struct HandlerDecisionLine: Line {
    package static let event = "handlerDecision"

    /// The path as it was typed; absent if only a type was given.
    package var path: String?
    /// Whether something is there.
    package var exists: Bool?
    /// `file` or `tree`, if known.
    package var kind: String?
    /// The type with which the item would be offered.
    package let type: String
    package var description: String?
    /// `consistent`, `unverified`, `mislabelled` or `lying`; absent if the content was not read.
    package var content: String?
    package var contentType: String?
    package var contentExplanation: String?
    /// The type with which the item would be handed on.
    package let handedOnAs: String
    /// Whether such an item could be sent here; if not, the reason.
    package var eligible: Bool
    package var reason: String?
    package var claimants: [HandlerClaimant] = []
    package var passedOver: [PassedOverHandler] = []
    /// Handlers that would be asked, in order: after a no, the next one is asked. None if the item stays in the Inbox.
    package var asked: [AskedHandler] = []
    /// The content in a few words.
    @Unsaid package var contentWords: String?
    @Unsaid package var handedOnDescription: String?
    /// Whether only types can be sent here that a handler opens.
    @Unsaid package var isEligibilityRuled = false

    package init(type: String, handedOnAs: String, eligible: Bool) {
        (self.type, self.handedOnAs, self.eligible) = (type, handedOnAs, eligible)
    }
}

/// The decision which handlers would open a URL.
package struct SchemeDecisionLine: Line {
    package static let event = "schemeDecision"

    /// The parts that the URL has, as handlers get them.
    package struct Parts: Encodable, Sendable {
        package let url: String
        package let scheme: String
        package var user: String?
        package var password: String?
        package var host: String?
        package var port: UInt16?
        package let path: String
        /// Decoded, as `queryItems` are.
        package var pathSegments: [String]?
        package var query: String?
        package var queryItems: [QueryItem]?
        package var fragment: String?

        package init(url: String, scheme: String, path: String) {
            (self.url, self.scheme, self.path) = (url, scheme, path)
        }
    }

    package struct QueryItem: Encodable, Sendable {
        package let name: String
        package let value: String?

        package init(name: String, value: String?) { (self.name, self.value) = (name, value) }
    }

    package let url: String
    package let urlParts: Parts
    /// Whether the URL's scheme is built in.
    package let builtIn: Bool
    /// Whether a received URL of this scheme is opened at once, and not only stored.
    package let openedWhenReceived: Bool
    package var claimants: [HandlerClaimant] = []
    package var passedOver: [PassedOverHandler] = []
    package var asked: [AskedHandler] = []
    /// The schemes that handlers here open.
    @Unsaid package private(set) var openedSchemes: [String]

    package init(parts: Parts, builtIn: Bool, openedWhenReceived: Bool, openedSchemes: [String] = []) {
        (url, urlParts, self.builtIn, self.openedWhenReceived) = (parts.url, parts, builtIn, openedWhenReceived)
        _openedSchemes = Unsaid(wrappedValue: openedSchemes)
    }
}

// MARK: Settings

/// A setting of a handler.
package struct HandlerSettingLine: Line {
    package static let event = "handlerSetting"

    package struct Choice: Encodable, Sendable {
        package let choice: String
        package let title: String

        package init(choice: String, title: String) { (self.choice, self.title) = (choice, title) }
    }

    /// The identifier of the handler.
    package let handler: String
    /// The key.
    package let setting: String
    package var title: String?
    /// The text of its value.
    package let values: [String]
    /// `default`, or the path of the file.
    package let setBy: String
    /// The text of the default.
    package let standard: String
    /// `text`, `truth`, `number`, `word`, or `fixed` for one that the user does not change.
    package let form: String
    /// The accepted values in words.
    package let accepted: String
    /// The values that can be chosen; absent for other settings.
    package var choices: [Choice]?
    /// Whether it is a password field.
    @Unsaid package var isSecure = false
    @Unsaid package var handlerName = ""

    package init(
        handler: String, setting: String, value: String, setBy: String, standard: String, form: String,
        accepted: String
    ) {
        (self.handler, self.setting, values, self.setBy) = (handler, setting, [value], setBy)
        (self.standard, self.form, self.accepted) = (standard, form, accepted)
    }
}

/// A setting of a handler has another value.
package struct HandlerSettingChangedLine: Line {
    package static let event = "handlerSettingChanged"

    package let handler: String
    package let setting: String
    package let values: [String]
    package let formerValues: [String]
    /// Whether the user has set it, now and before.
    @Unsaid package var isSet = true
    @Unsaid package var wasSet = false
    @Unsaid package var isSecure = false

    package init(handler: String, setting: String, value: String, formerValue: String) {
        (self.handler, self.setting, values, formerValues) = (handler, setting, [value], [formerValue])
    }
}
