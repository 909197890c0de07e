package import Sharing
import UniformTypes

/// Events for a watching command, one a line, after the reply to `ControlRequest.watch`. The first are `ready`, if the
/// receiver can be reached, `visibility`, and the waiting offers. Commands ignore unknown events.
package enum ControlEvent: Codable, Sendable, Equatable {
    /// The receiver can be reached.
    case ready(ReceiverSummary)
    /// An offer waits for an answer.
    case offer(OfferSummary)
    /// The offer waits no longer: it was answered or withdrawn, or its time was up.
    case settled(SettledOffer)
    /// An offer was accepted without a question, wholly or in part.
    case acceptedUnasked(SettledOffer)
    /// A transfer has moved on: bytes that have come, of all of its accepted items. A few times a second at most.
    case progress(transfer: String, peer: String?, bytes: UInt64, total: UInt64)
    /// An item is in the Inbox.
    case stored(ArrivalSummary)
    /// A handler has answered for an arrival: `HandlerAnswer.State`, and its exit code.
    case opened(ArrivalSummary, answer: String, exitCode: Int?)
    /// An item has left the Inbox. `toward` is its new path, or a handler's identifier.
    case left(ArrivalSummary, how: Departure.How, toward: String)
    /// The settings were read again, and are in effect or not.
    case settings(SettingsReport)
    /// The visibility: at the beginning, and when it was chosen or a time has ended.
    case visibility(VisibilityReport)
    /// The contacts may have changed.
    case contacts
    /// The receiver was locked or unlocked.
    case protection(ProtectionReport)
    /// A transfer is over; `fault` is the reason for its failure, in one line, and `cause` its kind.
    case ended(transfer: String, peer: String?, fault: String?, cause: EndCause?)
}
