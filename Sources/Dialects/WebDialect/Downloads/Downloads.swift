import Sharing
import Streams
import Synchronization

/// The downloads of a session that are under way, and the plans of its ZIPs.
///
/// Guests decide how fast they read, and how many downloads they begin: so each download takes room, and each address
/// has a share. A ZIP needs a plan, whose walk takes time and whose entries take memory: one walk runs at a time, and
/// requests for the same items within `WebLimits.planLife` share a plan. Later requests get a new one, unless there is no
/// room for it, or two are in use.
final class Downloads: Sendable {
    /// There is no room for another download now.
    struct Full: Error {}

    private struct Kept {
        let plan: ZipPlan
        let made: ContinuousClock.Instant
    }

    /// A plan that lives as long as a ZIP uses it.
    private struct InUse {
        weak var plan: ZipPlan?
        let number: Int
    }

    private struct State {
        /// For each address.
        var counts: [AddressKey?: Int] = [:]
        /// By the number of the item; 0: all items.
        var plans: [Int: Kept] = [:]
        /// In the order in which they were made.
        var inUse: [InUse] = []

        func inUse(_ number: Int) -> [ZipPlan] { inUse.compactMap { $0.number == number ? $0.plan : nil } }
    }

    /// Plans of the same items that are in use.
    private static let plansPerItem = 2

    let shared: SharedItems
    private let room = MemoryBudget(bytes: WebLimits.downloadBytes, ofStrangers: WebLimits.downloadBytes)
    private let roomForPlans: MemoryBudget
    private let planLife: Duration
    private let state = Mutex(State())
    private let walk = Turnstile()

    /// - Parameters:
    ///   - planLife: how long a plan is given to those who ask for the same one.
    ///   - planBytes: of all plans together.
    init(_ shared: SharedItems, planLife: Duration = WebLimits.planLife, planBytes: Int = WebLimits.planBytes) {
        (self.shared, self.planLife) = (shared, planLife)
        roomForPlans = MemoryBudget(bytes: planBytes, ofStrangers: planBytes)
    }

    /// Takes the place of a download, which is free again when the last reference goes.
    /// - Throws: `Full`.
    func begin(from address: AddressKey?) throws -> Slot {
        let claim = room.claim(isContact: false)
        guard claim.take(WebLimits.bytesPerDownload) else { throw Full() }
        let isFree = state.withLock { state in
            guard state.counts[address, default: 0] < WebLimits.downloadsPerAddress else { return false }
            state.counts[address, default: 0] += 1
            return true
        }
        guard isFree else { throw Full() }
        return Slot(self, address, claim)
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
            if let kept = state.withLock({ $0.plans[number] }), kept.made.duration(to: .now) < planLife {
                return kept.plan
            }
            // Its room may be needed for the new one.
            let used = state.withLock { state in
                state.plans[number] = nil
                state.inUse.removeAll { $0.plan == nil }
                return state.inUse(number)
            }
            if used.count >= Self.plansPerItem, let last = used.last { return last }
            do {
                return keep(try ZipPlan(item.map { [$0] } ?? shared.all, roomForPlans.claim(isContact: false)), number)
            } catch let fault as Full {
                guard let last = used.last else { throw fault }
                return last
            }
        }
    }

    private func keep(_ plan: ZipPlan, _ number: Int) -> ZipPlan {
        state.withLock { state in
            state.plans[number] = Kept(plan: plan, made: .now)
            state.inUse.append(InUse(plan: plan, number: number))
        }
        Task { [weak self, weak plan, planLife] in
            try? await Task.sleep(for: planLife)
            if let plan { self?.letGo(plan) }
        }
        return plan
    }

    private func letGo(_ plan: ZipPlan) {
        state.withLock { state in state.plans = state.plans.filter { $0.value.plan !== plan } }
    }

    /// The items are not as planned any more.
    func forget(_ plan: ZipPlan) {
        letGo(plan)
        state.withLock { state in state.inUse.removeAll { $0.plan === plan } }
    }

    /// One download.
    final class Slot: Sendable {
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
