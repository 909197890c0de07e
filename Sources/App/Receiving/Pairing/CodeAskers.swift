import SecureTransport
import Sharing
import Streams
import Synchronization

/// Those who ask for the nameplate of a spoken code: how often they may, and the identity that they see. It is no one's,
/// and it is the same whether a code is shown or not.
final class CodeAskers: Sendable {
    /// Questions in a minute, of one address and in all.
    private static let perAddress = 5
    private static let inAll = 60
    /// How long an identity is shown. The code that is shown may need it for so long from now.
    private static let lifetime: Duration = .seconds(600)

    private struct State {
        var rate = RateWindow<String?>(of: .seconds(60), each: CodeAskers.perAddress, inAll: CodeAskers.inAll)
        var identity: Identity?
        var until = ContinuousClock.now
    }

    private let state = Mutex(State())

    func mayAsk(_ asker: String?, at now: ContinuousClock.Instant) -> Bool {
        state.withLock { $0.rate.pass(asker, at: now) }
    }

    /// - Parameter isPinned: whether it stays the same for as long as a code can be shown.
    /// - Throws: `IdentityError`.
    func identity(isPinned: Bool = false) throws -> Identity {
        try state.withLock { state in
            let now = ContinuousClock.now
            if let identity = state.identity, now < state.until {
                if isPinned { state.until = now + Self.lifetime }
                return identity
            }
            let identity = try Identity.make()
            (state.identity, state.until) = (identity, now + Self.lifetime)
            return identity
        }
    }
}
