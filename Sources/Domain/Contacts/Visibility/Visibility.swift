package import Sharing

/// Who may see this receiver, and offer it something.
package enum Visibility: String, Sendable, Codable, CaseIterable {
    /// Nobody: not published, port closed.
    case off
    /// Contacts.
    case contacts
    /// Strangers too; they are always asked about.
    case everyone
}

/// What visibility was chosen, and until when: no clock, no disk.
package struct VisibilityChoice: Hashable, Sendable {
    /// What holds where nothing else is chosen for a time, and after it.
    package var lasting: Visibility
    package var passing: Passing?

    /// A choice for a time.
    package struct Passing: Hashable, Sendable {
        package var visibility: Visibility
        package var since: WallTime
        /// Milliseconds, 1...`ContactBounds.days` days.
        package var length: Int64

        package init(_ visibility: Visibility, since: WallTime, length: Int64) {
            self.visibility = visibility
            self.since = since
            self.length = min(max(length, 1), Self.longest)
        }

        static let longest = Int64(ContactBounds.days) * 86_400_000

        /// Milliseconds until it ends: never more than its length, however the clock was set back; 0 when it has ended.
        package func remaining(at time: WallTime) -> Int64 {
            let (passed, isFar) = time.milliseconds.subtractingReportingOverflow(since.milliseconds)
            if isFar { return time < since ? length : 0 }
            return passed <= 0 ? length : max(length - passed, 0)
        }
    }

    package init(_ lasting: Visibility = .contacts, passing: Passing? = nil) {
        self.lasting = lasting
        self.passing = passing
    }

    package func current(at time: WallTime) -> Visibility {
        guard let passing, passing.remaining(at: time) > 0 else { return lasting }
        return passing.visibility
    }

    /// What comes when the choice for a time ends, and in how many milliseconds; nil where none is running.
    package func nextChange(at time: WallTime) -> (in: Int64, to: Visibility)? {
        guard let remaining = passing?.remaining(at: time), remaining > 0 else { return nil }
        return (remaining, lasting)
    }

    /// Another choice, for good or for a time. One for a time takes the place of another one: after it comes what holds for
    /// good.
    ///
    /// - Throws: `ContactError` `unfit` for less than a millisecond, or more than `ContactBounds.days` days.
    package func choosing(
        _ visibility: Visibility, for length: Duration?, at time: WallTime
    ) throws(ContactError) -> VisibilityChoice {
        guard let length else { return VisibilityChoice(visibility) }
        guard length >= .milliseconds(1), length <= .milliseconds(Passing.longest) else {
            throw .unfit("a visibility can be chosen for at most \(ContactBounds.days) days")
        }
        let (seconds, rest) = length.components
        let milliseconds = seconds * 1_000 + rest / 1_000_000_000_000_000
        return VisibilityChoice(lasting, passing: Passing(visibility, since: time, length: milliseconds))
    }

    /// For a start: what has ended is forgotten, and what began in the future (the clock was set back) begins now, so
    /// that it lasts no longer than its length from here.
    package func restarted(at time: WallTime) -> VisibilityChoice {
        guard var passing, passing.remaining(at: time) > 0 else { return VisibilityChoice(lasting) }
        if time < passing.since { passing.since = time }
        return VisibilityChoice(lasting, passing: passing)
    }
}
