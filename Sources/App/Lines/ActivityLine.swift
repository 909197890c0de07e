/// The kind of an activity.
package enum ActivityCategory: String, Encodable, CaseIterable, Sendable {
    /// The items go to somebody.
    case share
    /// Something is done with them here.
    case action
}

/// Something that can be done with shared items.
package struct ActivityLine: Line {
    package static let event = "activity"

    /// The type of the activity.
    package let type: String
    package let title: String
    package let category: ActivityCategory
    /// The peer to which the items can be sent; absent for other activities.
    package let peer: PersonFields?
    /// Why it is not possible now; absent if it is.
    package let reason: String?

    package init(
        type: String, title: String, category: ActivityCategory, peer: PersonFields? = nil, reason: String? = nil
    ) {
        (self.type, self.title, self.category, self.peer, self.reason) = (type, title, category, peer, reason)
    }
}

/// How the sharing of items has ended.
package struct CompletedLine: Line {
    private enum Key: String, CodingKey {
        case activity, completed, returnedItems, exit
    }

    package static let event = "completed"

    /// The type of the activity that was chosen; null if none was.
    package var activity: String?
    /// The absolute paths of items that the activity has made.
    package var returnedItems: [String] = []
    package var exit: WaftExit

    package init(exit: WaftExit = .done) { self.exit = exit }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(activity, forKey: .activity)
        try fields.encode(exit == .done, forKey: .completed)
        try fields.encode(returnedItems, forKey: .returnedItems)
        try fields.encode(exit, forKey: .exit)
    }
}
