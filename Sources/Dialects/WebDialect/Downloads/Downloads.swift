import Sharing
import Streams
import Synchronization

/// The downloads of a session that are under way, and the plans of its ZIPs.
///
/// Guests decide how fast they read, and how many downloads they begin: so each download takes room, and each address
/// has a share. A ZIP needs a plan, whose walk takes time and whose entries take memory: one walk runs at a time, and all
/// who ask for the same items within `WebLimits.planLife` get the same plan.
final class Downloads: Sendable {
    /// There is no room for another download now.
    struct Full: Error {}

    private struct Kept {
        let plan: ZipPlan
        let made: ContinuousClock.Instant
    }

    private struct State {
        /// For each address.
        var counts: [AddressKey?: Int] = [:]
        /// By the number of the item; 0: all items.
        var plans: [Int: Kept] = [:]
    }

    let shared: SharedItems
    private let room = MemoryBudget(bytes: WebLimits.downloadBytes, ofStrangers: WebLimits.downloadBytes)
    private let state = Mutex(State())
    private let walk = Turnstile()

    init(_ shared: SharedItems) { self.shared = shared }

    /// Takes the place of a download, which is free again when the last reference goes.
    /// - Throws: `Full`.
    func begin(from address: AddressKey?) throws -> Place {
        let claim = room.claim(isContact: false)
        guard claim.take(WebLimits.bytesPerDownload) else { throw Full() }
        let isFree = state.withLock { state in
            guard state.counts[address, default: 0] < WebLimits.downloadsPerAddress else { return false }
            state.counts[address, default: 0] += 1
            return true
        }
        guard isFree else { throw Full() }
        return Place(self, address, claim)
    }

    private func end(_ address: AddressKey?) {
        state.withLock { state in
            let count = state.counts[address, default: 1] - 1
            state.counts[address] = count > 0 ? count : nil
        }
    }

    /// The plan of a ZIP.
    /// - Parameter item: nil: of all items.
    /// - Throws: as `ZipPlan.init`; `CancellationError`.
    func plan(of item: SharedItem?) async throws -> ZipPlan {
        let number = item?.number ?? 0
        return try await walk.pass {
            if let kept = state.withLock({ $0.plans[number] }), kept.made.duration(to: .now) < WebLimits.planLife {
                return kept.plan
            }
            // Its room may be needed for the new one.
            state.withLock { $0.plans[number] = nil }
            let plan = try ZipPlan(item.map { [$0] } ?? shared.all, room.claim(isContact: false))
            state.withLock { $0.plans[number] = Kept(plan: plan, made: .now) }
            Task { [weak self] in
                try? await Task.sleep(for: WebLimits.planLife)
                self?.forget(plan)
            }
            return plan
        }
    }

    /// The items are not as planned any more.
    func forget(_ plan: ZipPlan) {
        state.withLock { state in state.plans = state.plans.filter { $0.value.plan !== plan } }
    }

    /// One download.
    final class Place: Sendable {
        private let downloads: Downloads
        private let address: AddressKey?
        private let claim: MemoryClaim

        fileprivate init(_ downloads: Downloads, _ address: AddressKey?, _ claim: MemoryClaim) {
            (self.downloads, self.address, self.claim) = (downloads, address, claim)
        }

        deinit { downloads.end(address) }

        /// Takes room for the ZIP of a plan.
        /// - Throws: `Full`.
        func hold(_ plan: ZipPlan) throws {
            guard claim.take(ZipBody.entryBytes * plan.entries.count) else { throw Full() }
        }
    }
}
