package import Sharing

/// LocalSend's facts that both sides share: the written protocol 2.1, and the behaviour of the app's versions.
package enum LocalSendDialect {
    /// The TCP port of receivers, and the UDP port of announcements.
    package static let defaultPort: UInt16 = 53_317
    /// The multicast groups of announcements. The app knows the second one since 1.18.
    package static let groups = (v4: "224.0.0.167", v6: "ff12::fd3a:e420")
    /// The version that this side speaks.
    package static let version = "2.1"
    /// Announcements follow each other after these pauses.
    package static let burst: [Duration] = [.milliseconds(100), .milliseconds(500), .seconds(2)]

    static let prefix = "/api/localsend/v2/"
    /// The app up to 1.17 asks a known address this way only.
    static let earlyInfo = "/api/localsend/v1/info"
}

/// Every bound on the memory, counts and waits that a LocalSend peer may cause.
package enum LocalSendLimits {
    /// Bytes of a question with its files: some 23,000 files.
    package static let questionBytes = Limits.offerBytes
    /// Bytes of an announcement, of a registration and of an answer to it.
    package static let deviceBytes = 4 << 10
    /// Bytes of an answer: a token for each file of a question.
    package static let answerBytes = Limits.offerBytes
    /// Bytes of a message that is taken from a question. A longer one comes as a file.
    static let messageBytes = Limits.messageBytes
    /// Files in one question.
    static let files = 100_000
    /// Bytes of an identifier of the other side.
    static let identifierBytes = 256
    /// How often one file may be sent before its token is of no use.
    static let attempts = 8
    /// Wrong PINs from one address before it must wait.
    package static let wrongPINs = 3
    /// Timeout of the message to the other side that a session is over.
    package static let farewell: Duration = .seconds(2)
    /// How long an accepted offer may wait for the next file.
    package static let fileWait = Limits.contentsWait
}

extension Dialect {
    /// LocalSend: programs that show a certificate prove its key; nothing resumes, and a receiver says of each file only
    /// that it has it.
    package static let localsend = Dialect(
        name: "localsend", title: "LocalSend", proof: .sometimes, givesReceipts: false, resumes: false)
}
