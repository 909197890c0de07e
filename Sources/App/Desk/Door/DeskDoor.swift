import Synchronization
import WebPages

/// Lets in the windows that the user has opened: a secret of one use is exchanged for a cookie.
package final class DeskDoor: Sendable {
    /// Windows and browsers of one desk.
    private static let cookies = 64

    private struct State {
        /// Of windows that have not come yet.
        var secrets: [String] = []
        var tokens: [String] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// A secret for a window that is about to be opened.
    package func makeSecret() -> String {
        let secret = WebSecret.make()
        state.withLock { state in
            state.secrets.append(secret)
            if state.secrets.count > Self.cookies { state.secrets.removeFirst() }
        }
        return secret
    }

    /// - Returns: the value of the cookie; nil for a secret that is wrong or spent.
    func enter(_ secret: String) -> String? {
        state.withLock { state in
            guard let place = state.secrets.firstIndex(where: { WebSecret.areEqual($0, secret) }) else { return nil }
            state.secrets.remove(at: place)
            let token = WebSecret.make()
            state.tokens.append(token)
            if state.tokens.count > Self.cookies { state.tokens.removeFirst() }
            return token
        }
    }

    /// Whether a cookie was given by this door.
    func knows(_ token: String?) -> Bool {
        guard let token else { return false }
        return state.withLock { $0.tokens.contains { WebSecret.areEqual($0, token) } }
    }
}
