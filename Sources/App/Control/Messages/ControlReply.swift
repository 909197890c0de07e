package import Lines
import UniformTypes

/// The daemon's answer.
package enum ControlReply: Codable, Sendable, Equatable {
    case status(StatusLine)
    case offers([OfferLine])
    case items([ItemFields])
    case preview(OfferPreviewLine)
    case transfers([MovingLine])
    /// To `moving`: the user has cancelled that transfer.
    case cancelled
    /// To `watch`: events follow.
    case watching
    /// The offer was answered.
    case done
    /// To `acceptItems` with a folder: the offer was answered.
    case accepted(AcceptedLine)
    /// The request could not be carried out: one line for the user.
    case refused(String)
    /// No offer, item, arrival or job has the number that was given: one line for the user.
    case unknown(String)
    /// To `release`: a handler still reads the item, for so many seconds.
    case beingRead(handler: String, seconds: Int)
    /// To `open`: the handler's answer (`yes`, `no`, `later`, `failed`), and one line of reason.
    case handlerAnswered(String, exitCode: Int?, reason: String)
    /// The caller may not command the receiver: one line with the reason. The connection ends.
    case denied(String)
    /// To `reloadSettings`.
    case settings(SettingsLine)
    /// To `permit`: the transfer is taken at this port.
    case listening(port: Int)
    /// How a pairing stands.
    case pairing(PairingProgress)
    /// How a page for guests stands.
    case page(PageProgress)
    /// Of jobs of which something has moved.
    case progress([JobProgress])
    /// How protected items stand, after the request.
    case protection(LockLine)
    /// To `fileKey`: `SecretText.decoded`.
    case fileKey(SecretText)
    /// To `reseal`: the item stays as it is. To `fileKey`: no key opens the file. The code of a `LeavingError`, and one
    /// line for the user.
    case itemFault(code: String, reason: String)
    /// A key that is needed is not in memory: one line for the user.
    case locked(String)
}
