package import Contacts
package import Sharing

/// The peers that can see this receiver.
package struct VisibilityLine: Line, Codable, Equatable {
    package static let event = "visibility"

    /// `off`, `contacts` or `everyone`.
    package var visibility: String
    /// A temporary visibility ends after so many seconds, rounded up, or at that time.
    package private(set) var visibilitySeconds: Int64?
    package private(set) var visibilityUntil: LineTime?
    /// The visibility after a temporary one.
    package private(set) var visibilityThen: String?
    /// The stored visibility, if the start options of the running receiver override it.
    package private(set) var visibilityStored: String?
    /// Whether iPhones see this machine too, and if not, why: one line; absent without a radio backend.
    package private(set) var radioWords: String?
    /// The same for programs: `on`, `opening`, `closing` or the kind of fault.
    package private(set) var radioState: String?
    /// The end of a temporary visibility: milliseconds since 1970.
    @Unsaid private var end: Int64?

    package init(_ visibility: String, over stored: String) {
        (self.visibility, visibilityStored) = (visibility, stored)
    }

    /// - Parameter stored: the stored visibility, if the start options of the running receiver override it.
    package init(_ state: VisibilityFile.State, over stored: Visibility? = nil, at now: WallTime) {
        (visibility, visibilityStored) = (state.visibility.rawValue, stored?.rawValue)
        guard let next = state.next else { return }
        // At most `ContactBounds.days` days.
        let (sum, overflow) = now.milliseconds.addingReportingOverflow(next.seconds * 1_000)
        end = overflow ? .max : sum
        (visibilitySeconds, visibilityThen) = (next.seconds, next.visibility.rawValue)
        visibilityUntil = end.map { LineTime(milliseconds: $0) }
    }

    /// Takes what the radio does, if it is to be open, or is open though it is not to be; nil without a backend.
    package mutating func take(_ radio: StatusLine.Radio?) {
        let isSaid = radio.map { radio in
            if visibility == Visibility.everyone.rawValue { return radio.state != "off" }
            return ["closing", "staysOpen"].contains(radio.state)
        }
        (radioWords, radioState) = isSaid == true ? (radio?.words, radio?.state) : (nil, nil)
    }

    /// The line of a receiver, which may have kept it for some time, with the seconds that are left now.
    package func counted(at now: WallTime) -> VisibilityLine {
        var line = self
        line.visibilitySeconds = end.map { max(0, ($0 - now.milliseconds + 999) / 1_000) }
        return line
    }
}
