package import Age
package import Secrets
package import Sharing
package import Streams
private import Synchronization

/// The keys of a receiver: the public ones always, the private ones while unlocked.
///
/// Anybody may receive with the public keys. A lock wipes the key pair L; U stays until everything is locked, or the
/// receiver ends.
package final class Vault: Sendable {
    /// Why nothing more is opened with keys that are in memory.
    private enum Hold {
        /// An unlock tells the handlers first.
        case unlocking
        /// A lock waits for those who read; with `all` it closes U too.
        case locking(all: Bool)

        func covers(_ role: IdentityRole) -> Bool {
            if case .locking(all: true) = self { return true }
            return role == .whileUnlocked
        }
    }

    private struct State {
        var recipients: ProtectionRecipients?
        /// Why the public keys are not known.
        var fault: VaultError?
        var identities: [IdentityRole: [AgeIdentity]] = [:]
        /// The public keys of those that were taken into memory last.
        var known: VaultIdentities?
        /// Where those in memory come from.
        var origin: VaultMode?
        var since: WallTime
        /// Of the last lock; nil while unlocked.
        var cause: LockCause?
        /// Nil if all keys in memory are used.
        var hold: Hold?
        var lastUse = ContinuousClock.now

        var isUnlocked: Bool { identities[.whileUnlocked] != nil }
        /// Whether there is something to guard: private keys, or contents that are sealed while they come.
        var isSecret: Bool { recipients != nil || fault != nil || !identities.isEmpty }
        var wasUnlocked: Bool { identities[.sinceFirstUnlock] != nil }
        var isLocking: Bool {
            if case .locking = hold { true } else { false }
        }

        func isHeld(_ role: IdentityRole) -> Bool { hold?.covers(role) ?? false }

        var standing: VaultState {
            VaultState(
                isSetUp: recipients != nil, isDropBox: recipients?.isDropBox ?? false, isUnlocked: isUnlocked,
                isLocking: isLocking, wasUnlocked: wasUnlocked, since: since, mode: origin ?? recipients?.own?.keeper,
                cause: cause)
        }
    }

    private let folder: ProtectionFolder
    private let now: @Sendable () -> WallTime
    private let guardMemory: @Sendable (Bool) -> Void
    private let state: Mutex<State>

    /// Each change of the standing, in order.
    package let changes = Broadcast<VaultState>(buffer: .bufferingNewest(64))

    /// Reads the public keys. If they cannot be read, each use of them fails with the reason, as `reload` does.
    ///
    /// - Parameters:
    ///   - now: the time of changes.
    ///   - guardMemory: called with true as soon as data protection is set up, before anything is sealed or opened, and
    ///     with false when it is not any more.
    package init(
        _ folder: ProtectionFolder, now: @escaping @Sendable () -> WallTime = { .now },
        guardMemory: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        (self.folder, self.now, self.guardMemory) = (folder, now, guardMemory)
        var first = State(since: now())
        do throws(VaultError) { first.recipients = try folder.recipients() } catch { first.fault = error }
        if first.isSecret { guardMemory(true) }
        state = Mutex(first)
    }

    // MARK: Standing

    package var standing: VaultState { state.withLock { $0.standing } }

    /// Time since the last unlock, or since an item was opened last for a person or a handler.
    package var idleTime: Duration { ContinuousClock.now - lastUse }

    var lastUse: ContinuousClock.Instant { state.withLock { $0.lastUse } }

    /// Whether items of a class can be opened now.
    package func canOpen(_ protection: ProtectionClass) -> Bool {
        guard let role = IdentityRole(protection) else { return true }
        return state.withLock { $0.identities[role] != nil && !$0.isHeld(role) }
    }

    /// Whether the keys of a class are in memory, also while no new item is opened with them.
    package func hasKeys(for protection: ProtectionClass) -> Bool {
        guard let role = IdentityRole(protection) else { return true }
        return state.withLock { $0.identities[role] != nil }
    }

    /// Whether L is in memory, also while it is held.
    package var isUnlocked: Bool { state.withLock { $0.isUnlocked } }

    /// - Throws: `VaultError` if the public keys could not be read.
    package func check() throws(VaultError) {
        if let fault = state.withLock({ $0.fault }) { throw fault }
    }

    // MARK: Keys

    /// The public keys to which an item of a class is sealed; none for the class that is not sealed.
    ///
    /// - Throws: `VaultError` `notSetUp`; `damaged`, `storage` if the keys could not be read.
    package func recipients(for protection: ProtectionClass) throws(VaultError) -> [AgeRecipient] {
        guard protection.isSealed else { return [] }
        let (recipients, fault) = state.withLock { ($0.recipients, $0.fault) }
        guard let recipients else { throw fault ?? .notSetUp }
        return recipients.recipients(for: protection)
    }

    /// The purpose for which a sealed file is opened.
    package enum Use: Sendable {
        /// A person or a handler begins to read: nothing is opened with a key that is held.
        case reading
        /// A reader that began before the key was held reads on.
        case admitted
        /// The receiver itself looks for what it has. It does not postpone the lock of an idle receiver.
        case recognising
    }

    /// The key of a sealed file.
    ///
    /// - Throws: `VaultError` `locked` if a key that is not in memory could open it, or one that is held; `noIdentity` in
    ///   a drop box, `foreign` if no key opens it or its header was changed, `notSetUp`; `damaged`, `storage`.
    package func fileKey(of header: AgeHeader, for use: Use = .reading) throws(VaultError) -> SecretBytes {
        let (identities, refusal) = state.withLock { state -> ([AgeIdentity], VaultError) in
            let roles = IdentityRole.allCases.filter { use != .reading || !state.isHeld($0) }
            let identities = roles.flatMap { state.identities[$0] ?? [] }
            if state.isUnlocked, state.wasUnlocked, roles.count == IdentityRole.allCases.count {
                return (identities, .foreign)
            }
            guard let recipients = state.recipients else { return (identities, state.fault ?? .notSetUp) }
            return (identities, recipients.isDropBox ? .noIdentity : .locked)
        }
        guard !identities.isEmpty else { throw refusal }
        do throws(AgeError) {
            let key = try header.fileKey(with: identities)
            if use != .recognising { state.withLock { $0.lastUse = .now } }
            return key
        } catch {
            switch error {
            case .noMatch: throw refusal
            case .noCryptography: throw VaultError("the header of the sealed file", error)
            case .malformed, .damaged, .truncated, .trailing, .unsupported:
                throw VaultError(.foreign, "its header was changed since it was sealed: \(error)")
            }
        }
    }

    // MARK: Changes

    /// Reads the public keys again, after a command has changed them.
    ///
    /// - Throws: `VaultError` `damaged`, `storage`; `swapped` while unlocked, if they do not belong to the private keys
    ///   in memory. Then the keys of before stay in use.
    package func reload() throws(VaultError) {
        let recipients = try folder.recipients()
        try changeState { state throws(VaultError) in
            if let known = state.known {
                guard let recipients else { throw folder.swapped }
                guard known.match(recipients) else { throw folder.swapped(recipients, known) }
            }
            (state.recipients, state.fault) = (recipients, nil)
        }
    }

    /// Takes private keys into memory; a role of which there is none here stays as it is.
    ///
    /// - Parameters:
    ///   - origin: nil for the keeper of these keys.
    ///   - isHeld: whether nothing is opened with L before `release`, if L was not in memory.
    /// - Throws: `VaultError` `notSetUp`, `noIdentity` in a drop box; `swapped` if the public keys do not belong to them;
    ///   `damaged`, `storage`. Then nothing is unlocked.
    package func unlock(
        _ identities: VaultIdentities, from origin: VaultMode? = nil, isHeld: Bool = false
    ) throws(VaultError) {
        let recipients = try folder.recipients()
        guard let recipients else { throw .notSetUp }
        guard !recipients.isDropBox else { throw .noIdentity }
        guard identities.match(recipients) else { throw folder.swapped(recipients, identities) }
        try changeState { state throws(VaultError) in
            if !state.isSecret { guardMemory(true) }
            if !state.isUnlocked { state.hold = isHeld ? .unlocking : nil }
            (state.recipients, state.fault) = (recipients, nil)
            state.known = identities.publicKeys
            for role in IdentityRole.allCases {
                let keys = identities.entries.filter { $0.role == role }.map(\.identity)
                if !keys.isEmpty { state.identities[role] = keys }
            }
            if state.isUnlocked || state.origin == nil { state.origin = origin }
            if state.isUnlocked { state.cause = nil }
            state.lastUse = .now
        }
    }

    /// Opens nothing more with L, and with `all` with U, which stay in memory for those who read already: a lock begins.
    ///
    /// - Parameter cause: nil for that of the lock that is under way.
    package func hold(all: Bool = false, because cause: LockCause? = nil) {
        // Never throws.
        try? changeState { state throws(VaultError) in
            state.hold = .locking(all: all)
            state.cause = cause ?? state.cause
        }
    }

    /// Opens with L what comes: an unlock has ended.
    package func release() { state.withLock { $0.hold = nil } }

    /// Wipes the key pair L, and with `all` U too.
    package func lock(all: Bool, because cause: LockCause = .command) {
        // Never throws.
        try? changeState { state throws(VaultError) in
            if state.isUnlocked || (all && state.wasUnlocked) { state.cause = cause }
            state.hold = nil
            state.identities[.whileUnlocked] = nil
            guard all else { return }
            state.identities = [:]
            state.known = nil
            state.origin = nil
        }
    }

    private func changeState(_ change: (inout State) throws(VaultError) -> Void) throws(VaultError) {
        let result = state.withLock { state -> Result<Void, VaultError> in
            let before = state
            do throws(VaultError) { try change(&state) } catch {
                state = before
                return .failure(error)
            }
            if state.isSecret != before.isSecret { guardMemory(state.isSecret) }
            guard state.standing != before.standing else { return .success(()) }
            state.since = now()
            // Within the lock: the order of the changes.
            changes.send(state.standing)
            return .success(())
        }
        try result.get()
    }
}
