import Synchronization
import WebPages

/// Lets in the windows that the user has opened: a secret of one use is exchanged for a token. A cookie would be sent to
/// every server of this machine, whatever its port.
package final class DeskDoor: Sendable {
    /// Windows of one desk.
    private static let maximum = 64

    /// The right of a window.
    struct Pass: Sendable {
        /// In the header of each request.
        let token = WebSecret.make()
        /// In the path of the previews, which a browser fetches without that header.
        let previews = WebSecret.make()
    }

    private struct State {
        /// Of windows that have not come yet.
        var secrets: [String] = []
        var passes: [Pass] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// A secret for a window that is about to be opened.
    package func makeSecret() -> String {
        let secret = WebSecret.make()
        state.withLock { state in
            state.secrets.append(secret)
            if state.secrets.count > Self.maximum { state.secrets.removeFirst() }
        }
        return secret
    }

    /// - Returns: nil for a secret that is wrong or spent.
    func enter(_ secret: String) -> Pass? {
        state.withLock { state in
            guard let place = state.secrets.firstIndex(where: { WebSecret.areEqual($0, secret) }) else { return nil }
            state.secrets.remove(at: place)
            let pass = Pass()
            state.passes.append(pass)
            if state.passes.count > Self.maximum { state.passes.removeFirst() }
            return pass
        }
    }

    /// - Returns: nil for a token that this door did not give.
    func pass(of token: String?) -> Pass? {
        guard let token else { return nil }
        return state.withLock { $0.passes.first { WebSecret.areEqual($0.token, token) } }
    }
}
