/// The events that the user wants to see as desktop notifications.
package enum NotificationRule: Sendable {
    /// Offers, arrivals, and finished jobs of the outbox.
    case all
    case offers
    case arrivals
    case off

    package var includesOffers: Bool { self == .all || self == .offers }
    package var includesArrivals: Bool { self == .all || self == .arrivals }
    package var includesOutbox: Bool { self == .all }
}

extension SettingForm where Value == NotificationRule {
    /// A truth value in any of its forms, or the one kind that is shown.
    static var notifications: Self {
        let words: Self = .words(["true": .all, "offers": .offers, "arrivals": .arrivals, "false": .off])
        return SettingForm(
            words.kind, words.expected,
            read: { words.read($0) ?? SettingForm<Bool>.truth.read($0).map { $0 ? .all : .off } }, write: words.write)
    }
}
