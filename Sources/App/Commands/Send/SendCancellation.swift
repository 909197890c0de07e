import Sharing

/// The progress of a sending when the user ended it, and how to resume it.
struct SendCancellation: Equatable {
    enum Again: Equatable {
        /// The other side keeps the part that has arrived.
        case resumes
        /// The protocol keeps nothing.
        case begins
        /// Standard input cannot be read twice.
        case needsInput
    }

    /// Bytes that have arrived, with those that were there before.
    var bytes: UInt64 = 0
    /// Of all accepted items; nil if unknown.
    var total: UInt64?
    var again = Again.resumes
    /// Whether the sending waited for handlers only.
    var isStored = false

    var text: String {
        if isStored { return "everything is stored; the answers of handlers were not waited for" }
        guard bytes > 0 else { return "cancelled; nothing was sent" }
        let advice =
            switch again {
            case .resumes: "run the same command to resume"
            case .begins: "run the same command to send it again from the beginning"
            case .needsInput: "standard input cannot be read again: run the whole pipeline again"
            }
        return "cancelled at \(amount); \(advice)"
    }

    /// `30.4 of 60.0 MB`: a unit that both amounts have stands once.
    private var amount: String {
        let done = ByteCount.text(bytes)
        guard let total else { return done }
        let all = ByteCount.text(total)
        let (part, whole) = (done.split(separator: " "), all.split(separator: " "))
        return part.last == whole.last ? "\(part[0]) of \(all)" : "\(done) of \(all)"
    }
}

/// The words for a sending of which a part was on the other side before.
enum ResumeWords {
    /// - Parameters:
    ///   - bytes: on the other side now.
    ///   - moved: bytes that were sent until now.
    /// - Returns: nil if nothing was there before, or nothing is left to send.
    static func line(bytes: UInt64, of total: UInt64?, moved: UInt64) -> String? {
        guard bytes > moved, bytes < total ?? .max else { return nil }
        return "resuming: \(ByteCount.text(bytes - moved)) of \(total.map(ByteCount.text) ?? "it") are there already"
    }
}
