package import Contacts
package import Sharing

/// The peers that may see this receiver, by its current visibility and contacts.
package protocol VisibilityReading: Sendable {
    var visibility: Visibility { get }

    /// Whether connections are taken: at any visibility but `off`, and while a spoken code is shown or lets a transfer in.
    var isListening: Bool { get }

    /// Whether others can find this receiver: at any visibility but `off`, and while a spoken code is shown.
    var isFound: Bool { get }

    /// Waits until the visibility is as wanted, or the task is cancelled. Asks again after each change of the settings
    /// too.
    func wait(until wanted: @Sendable (Visibility) -> Bool) async

    /// The contacts that are not blocked; empty if they cannot be read.
    var contacts: Set<PeerID> { get }

    /// Whether a peer is a contact, for which resources are kept from strangers.
    func knows(_ peer: PeerID) -> Bool

    /// Whether this receiver tells a peer its name.
    func shows(itselfTo peer: PeerID) -> Bool
}

extension VisibilityReading {
    package var isListening: Bool { visibility != .off }
    package var isFound: Bool { visibility != .off }

    /// Runs `body` until a condition holds, or the task is cancelled.
    func run(
        until isOver: @escaping @Sendable (Visibility) -> Bool, _ body: @escaping @Sendable () async -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask { await self.wait(until: isOver) }
            await group.next()
            group.cancelAll()
        }
    }
}
