package import Sharing

/// The peers that can see this receiver and make offers to it.
package enum Visibility: String, Sendable, Codable, CaseIterable {
    /// No peer: the service is not published, and the port is closed.
    case off
    /// Contacts.
    case contacts
    /// Strangers too; the user is always asked about their offers.
    case everyone
}

/// The chosen visibility and its end: no clock, no disk.
package struct VisibilityChoice: Hashable, Sendable {
    /// The visibility without a temporary choice, and after it.
    package var lasting: Visibility
    package var passing: Passing?

    /// A temporary choice.
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

        /// Milliseconds until it ends: at most its length, even if the clock was set back; 0 after its end.
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

    /// The visibility after the temporary choice, and milliseconds until then; nil if no temporary choice is active.
    package func nextChange(at time: WallTime) -> (in: Int64, to: Visibility)? {
        guard let remaining = passing?.remaining(at: time), remaining > 0 else { return nil }
        return (remaining, lasting)
    }

    /// Makes another choice, lasting or temporary. A temporary choice replaces another temporary one; the lasting
    /// choice follows it.
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

    /// For a start: drops a temporary choice that has ended. If it began in the future, because the clock was set back,
    /// it begins now: it lasts at most its length from now.
    package func restarted(at time: WallTime) -> VisibilityChoice {
        guard var passing, passing.remaining(at: time) > 0 else { return VisibilityChoice(lasting) }
        if time < passing.since { passing.since = time }
        return VisibilityChoice(lasting, passing: passing)
    }
}
