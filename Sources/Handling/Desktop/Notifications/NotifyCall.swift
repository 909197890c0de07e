import DBusClient
import Foundation

/// The arguments of `Notify`, as sent to the server.
struct NotifyCall: Hashable {
    /// The number of this call, which its answer is matched with.
    var number: Int
    /// 0 for a new notification.
    var replaces: UInt32
    var summary: String
    var body: String
    /// Keys and labels alternate.
    var actions: [String]
    var urgency: NotificationRequest.Urgency
    /// Milliseconds; -1 if the server decides, 0 for never.
    var expiry: Int32
    var category: String?
    /// A `file` URI.
    var picture: String?

    /// - Parameters:
    ///   - notification: its number on the board.
    ///   - abilities: of the server; without actions it gets the text for such a server.
    init(
        _ request: NotificationRequest, number: Int, replaces: UInt32, notification: Int,
        _ abilities: ServerAbilities
    ) {
        self.number = number
        self.replaces = replaces
        summary = NotificationText.line(request.summary, limit: NotificationLimits.summaryLength)
        let text = abilities.hasActions ? request.body : request.bodyWithoutActions ?? request.body
        let lines = NotificationText.lines(text, limit: NotificationLimits.bodyLength)
        body = abilities.hasMarkup ? NotificationText.withoutMarkup(lines) : lines
        let shownActions = abilities.hasActions ? request.shownActions : []
        actions = shownActions.flatMap { action in
            [
                Self.key(action.key, notification),
                NotificationText.line(action.label, limit: NotificationLimits.labelLength),
            ]
        }
        urgency = request.urgency
        expiry =
            switch request.expiry {
            case .byServer: -1
            case .never: 0
            case .after(let time): Int32(clamping: max(1, time.wholeMilliseconds))
            }
        picture = request.picture.map { URL(fileURLWithPath: $0).absoluteString }
        category = request.category.map { NotificationText.line($0, limit: NotificationLimits.labelLength) }
    }

    /// Keys are unique to each notification. So an id that a server uses twice, or that belonged to another
    /// notification on an earlier server, triggers no answer.
    static func key(_ key: String, _ notification: Int) -> String { "\(key)-\(notification)" }
}

extension NotificationRequest {
    /// The actions that are sent.
    var shownActions: ArraySlice<Action> {
        actions.filter { action in
            !action.key.isEmpty && action.key.utf8.count <= NotificationLimits.actionKeyBytes
                && action.key.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
                }
        }.prefix(NotificationLimits.actions)
    }
}
