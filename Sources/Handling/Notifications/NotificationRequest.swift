/// What is to be shown on the desktop.
///
/// All texts are plain: what a server would read as markup, what cannot be seen and what would change the direction of
/// writing is made visible on the way out, and every text is cut at `NotificationLimits`.
package struct NotificationRequest: Hashable, Sendable {
    /// Something to press.
    package struct Action: Hashable, Sendable {
        /// What comes back when it is pressed; at most `NotificationLimits.actionKeyBytes` bytes of `[a-z0-9-]`. An
        /// action with any other key is not shown.
        package var key: String
        /// What people read.
        package var label: String

        package init(key: String, label: String) {
            self.key = key
            self.label = label
        }
    }

    /// The hint `urgency` of the Desktop Notifications Specification, section "Urgency levels".
    package enum Urgency: UInt8, Sendable, CaseIterable {
        case low = 0
        case normal = 1
        case critical = 2
    }

    /// When the server takes it away by itself.
    package enum Expiry: Hashable, Sendable {
        /// When the server likes.
        case byServer
        case never
        /// After so long; rounded to milliseconds, at least one.
        case after(Duration)
    }

    /// One line. Some servers read markup here too, against the specification: foreign text belongs in `body`.
    package var summary: String
    /// Lines; what else would move a cursor is made visible.
    package var body: String
    /// At most `NotificationLimits.actions` of them are shown.
    package var actions: [Action]
    package var urgency: Urgency
    package var expiry: Expiry
    /// The hint `category`: `transfer`, say.
    package var category: String?

    package init(
        summary: String,
        body: String = "",
        actions: [Action] = [],
        urgency: Urgency = .normal,
        expiry: Expiry = .byServer,
        category: String? = nil
    ) {
        self.summary = summary
        self.body = body
        self.actions = actions
        self.urgency = urgency
        self.expiry = expiry
        self.category = category
    }
}

/// What becomes of a notification.
package enum NotificationEvent: Hashable, Sendable {
    /// Somebody pressed the action with this key.
    case action(String)
    /// It is not shown any more, and will not be: the last event.
    case closed(NotificationEnd)
}

/// Why a notification is not shown any more: the reasons of the signal `NotificationClosed`, and one of our own.
package enum NotificationEnd: Hashable, Sendable {
    /// Its time was up, as the server counts.
    case expired
    /// The user sent it away.
    case dismissed
    /// We closed it.
    case closed
    /// The server said no more than that.
    case undefined
    /// The server refused it, or answered what cannot be.
    case refused
}

/// Bounds on what is sent to a notification server, and believed of it.
package enum NotificationLimits {
    /// Characters (Unicode scalars) of a summary.
    package static let summaryLength = 100
    /// Characters of a body, without what escaping adds.
    package static let bodyLength = 1_500
    /// Characters of an action's label.
    package static let labelLength = 40
    /// Actions of one notification.
    package static let actions = 4
    /// Bytes of an action's key.
    package static let actionKeyBytes = 32
    /// Notifications that are on the desktop at once; one more speaks for the rest.
    package static let open = 8
    /// After as many in a row, new ones come no faster than one each `pace`.
    package static let burst = 8
    package static let pace: Duration = .seconds(2)
    /// How long a bus or a server may take to answer before it is said to be silent.
    package static let patience: Duration = .seconds(20)
    /// Bytes of a message that is taken from the bus.
    package static let messageBytes = 1 << 20
    /// Capabilities of a server that are looked at.
    package static let capabilities = 256
}
