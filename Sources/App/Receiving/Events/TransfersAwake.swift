import Desktop
import Lines
import Settings
import Sharing
import Synchronization

/// Keeps the machine awake while contents come in.
final class TransfersAwake: Sendable {
    private struct Key: Hashable {
        var transfer: TransferID
        var peer: PeerID
    }

    private let inhibitor: SleepInhibitor
    private let settings: LiveSettings
    private let holds = Mutex<[Key: WakeHold]>([:])

    init(_ inhibitor: SleepInhibitor, settings: LiveSettings) {
        (self.inhibitor, self.settings) = (inhibitor, settings)
    }

    /// Nil while the machine may sleep.
    var wanted: SleepInhibitor? { settings.current.inhibitsSleep ? inhibitor : nil }

    /// From the first progress, which a transfer has when its contents come, to the end that each such transfer has: an
    /// offer alone keeps nothing awake.
    func hear(_ event: Reception.Event) {
        switch event {
        case .progressed(let transfer, let peer, _, _):
            guard let inhibitor = wanted else { return }
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

extension TransfersAwake: StatusGiving {
    func fill(_ status: inout StatusLine) { status.wakeFault = wanted?.refusal?.words }
}
