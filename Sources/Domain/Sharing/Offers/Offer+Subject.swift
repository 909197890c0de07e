extension Offer {
    /// The key of the subject in the annotation.
    package static let subjectKey = "subject"
    /// Bytes of a subject.
    package static let subjectBytes = 1_024

    /// The subject of all that is offered: one line. Foreign text.
    package var subject: String? { annotation[Self.subjectKey].flatMap(Self.subject) }

    /// - Returns: nil for a text that is empty, too long, or of several lines.
    package static func subject(_ text: String) -> String? {
        (1...subjectBytes).contains(text.utf8.count) && !text.contains(where: \.isNewline) ? text : nil
    }
}
