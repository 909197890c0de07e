import Contacts

/// The peers that come by a spoken code, at any visibility: the peer that has typed the code, and the peer whose transfer
/// the user lets in.
struct CodeGuests: Sendable {
    private let pairing: PairingAcceptance
    let permits: TransferPermits

    init(_ pairing: PairingAcceptance, _ permits: TransferPermits) {
        (self.pairing, self.permits) = (pairing, permits)
    }

    /// Whether a peer may have to find this receiver.
    var areAwaited: Bool { pairing.showsCode }

    /// Whether a peer may come, because it has found this receiver or knows its port.
    var mayCome: Bool { areAwaited || permits.isAny(at: .now) }

    /// Calls the body after each change, until the task is cancelled.
    func follow(_ changed: @escaping @Sendable () -> Void) async {
        await withDiscardingTaskGroup { tasks in
            for news in [pairing.changes(), permits.changes()] {
                tasks.addTask { for await _ in news { await settle(changed) } }
            }
        }
    }

    /// A code and a permit end by time, too: it is looked at each second while there are any.
    private func settle(_ changed: @Sendable () -> Void) async {
        changed()
        while mayCome, !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            changed()
        }
    }
}
