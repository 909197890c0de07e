import Contacts

/// Those who come by a spoken code, whatever the visibility: the peer that has typed the code, and the one whose transfer
/// the user lets in.
struct CodeGuests: Sendable {
    private let pairing: PairingAcceptance
    let permits: TransferPermits

    init(_ pairing: PairingAcceptance, _ permits: TransferPermits) {
        (self.pairing, self.permits) = (pairing, permits)
    }

    /// Whether somebody may have to find this receiver.
    var areAwaited: Bool { pairing.showsCode }

    /// Whether somebody may come, here or to the port that was told.
    var mayCome: Bool { areAwaited || permits.isAny(at: .now) }

    /// Calls the body after each change, until the task is cancelled.
    func follow(_ changed: @escaping @Sendable () -> Void) async {
        await withDiscardingTaskGroup { tasks in
            for news in [pairing.changes(), permits.changes()] {
                tasks.addTask { for await _ in news { await settle(changed) } }
            }
        }
    }

    /// While somebody may come, it also ends by time.
    private func settle(_ changed: @Sendable () -> Void) async {
        changed()
        while mayCome, !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            changed()
        }
    }
}
