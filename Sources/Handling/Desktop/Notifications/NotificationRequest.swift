/// A notification to show on the desktop.
///
/// All texts are plain. Before sending, markup, invisible characters and characters that change the direction of
/// writing are made visible, and every text is cut at `NotificationLimits`.
package struct NotificationRequest: Hashable, Sendable {
    /// A button.
    package struct Action: Hashable, Sendable {
        /// Identifies the action in the event; at most `NotificationLimits.actionKeyBytes` bytes of `[a-z0-9-]`. An
        /// action with any other key is not shown.
        package var key: String
        /// The text of the button.
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

    /// When the server removes it by itself.
    package enum Expiry: Hashable, Sendable {
        /// The server decides.
        case byServer
        case never
        /// After this duration, rounded to milliseconds, at least one.
        case after(Duration)
    }

    /// One line. Some servers read markup here, against the specification: foreign text belongs in `body`.
    package var summary: String
    /// Several lines; other characters that move a cursor are made visible.
    package var body: String
    /// The body for a server that shows no actions; nil for the same one.
    package var bodyWithoutActions: String?
    /// At most `NotificationLimits.actions` of them are shown.
    package var actions: [Action]
    package var urgency: Urgency
    package var expiry: Expiry
    /// The hint `category`, such as `transfer`.
    package var category: String?
    /// Absolute path of a picture, for the hint `image-path`; the file must be there as long as the notification.
    package var picture: String?

    package init(
        summary: String,
        body: String = "",
        bodyWithoutActions: String? = nil,
        actions: [Action] = [],
        urgency: Urgency = .normal,
        expiry: Expiry = .byServer,
        category: String? = nil,
        picture: String? = nil
    ) {
        self.summary = summary
        self.body = body
        self.bodyWithoutActions = bodyWithoutActions
        self.actions = actions
        self.urgency = urgency
        self.expiry = expiry
        self.category = category
        self.picture = picture
    }
}

/// An event of a notification.
package enum NotificationEvent: Hashable, Sendable {
    /// The user pressed the action with this key.
    case action(String)
    /// It is closed and does not appear again: the last event.
    case closed(NotificationEnd)
}

/// Why a notification was closed: the reasons of the signal `NotificationClosed`, and one of our own.
package enum NotificationEnd: Hashable, Sendable {
    /// It expired, by the server's clock.
    case expired
    /// The user dismissed it.
    case dismissed
    /// We closed it.
    case closed
    /// The server gave no reason.
    case undefined
    /// The server refused it, or gave an invalid answer.
    case refused
}

/// Bounds on the data sent to a notification server and accepted from it.
package enum NotificationLimits {
    /// Maximum characters (Unicode scalars) of a summary.
    package static let summaryLength = 100
    /// Maximum characters of a body, without escaping.
    package static let bodyLength = 1_500
    /// Maximum characters of an action's label.
    package static let labelLength = 40
    /// Maximum actions of one notification.
    package static let actions = 4
    /// Maximum bytes of an action's key.
    package static let actionKeyBytes = 32
    /// Maximum notifications on the desktop at once, not counting the one for the surplus.
    package static let open = 8
    /// After this number in a row, new ones appear at intervals of `pace`.
    package static let burst = 8
    package static let pace: Duration = .seconds(2)
    /// How long a bus or a server may take to answer before it counts as silent.
    package static let timeout: Duration = .seconds(20)
    /// Maximum bytes of a message from the bus.
    package static let messageBytes = 1 << 20
    /// Maximum capabilities of a server that are read.
    package static let capabilities = 256
}
