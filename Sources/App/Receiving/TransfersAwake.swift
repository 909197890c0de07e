import Desktop
import Sharing
import Synchronization

/// Keeps the machine awake while contents come in.
final class TransfersAwake: Sendable {
    private struct Key: Hashable {
        var transfer: TransferID
        var peer: PeerID
    }

    private let inhibitor: @Sendable () -> SleepInhibitor?
    private let holds = Mutex<[Key: WakeHold]>([:])

    /// - Parameter inhibitor: nil while the machine may sleep; asked for at each event.
    init(_ inhibitor: @escaping @Sendable () -> SleepInhibitor?) {
        self.inhibitor = inhibitor
    }

    /// From the first progress, which a transfer has when its contents come, to the end that each such transfer has: an
    /// offer alone keeps nothing awake.
    func hear(_ event: Reception.Event) {
        switch event {
        case .progressed(let transfer, let peer, _, _):
            guard let inhibitor = inhibitor() else { return }
            holds.withLock { holds in
                let key = Key(transfer: transfer, peer: peer)
                guard holds[key] == nil else { return }
                let hold = WakeHold(inhibitor)
                hold.take()
                holds[key] = hold
            }
        case .ended(let transfer, let peer, _, _):
            _ = holds.withLock { $0.removeValue(forKey: Key(transfer: transfer, peer: peer)) }
        default: break
        }
    }
}
