import HandlerCatalog
import Handlers
import Inbox
import Protection
import Sharing
import Synchronization

/// Opens sealed items for handlers, by the keys that the vault has in memory.
final class ClearCopies: ClearCopying {
    private let vault: Vault
    private let candidates: [String]
    private let inbox: String
    private let quota: @Sendable () -> UInt64?
    /// Made when it is used first: without data protection there is none.
    private let made = Mutex<ClearFolder?>(nil)
    let opened = OpenCopies()

    /// - Parameters:
    ///   - candidates: as in `ClearFolder`.
    ///   - inbox: absolute path of the Inbox.
    ///   - quota: bytes of all clear copies of a call, at most; nil for half of the free memory.
    init(vault: Vault, candidates: [String], inbox: String, quota: @escaping @Sendable () -> UInt64?) {
        (self.vault, self.candidates, self.inbox, self.quota) = (vault, candidates, inbox, quota)
    }

    /// Nil if no memory of this machine can hold clear copies.
    private var clear: ClearFolder? {
        made.withLock { made in
            if made == nil { made = ClearFolder(candidates: candidates) }
            return made
        }
    }

    /// Removes what a crash of an earlier receiver may have left in memory.
    func sweep() {
        if vault.standing.isSetUp { _ = clear }
    }

    /// Removes all clear copies. Handlers that have one may lose it.
    func removeAll() { made.withLock { $0 }?.removeAll() }

    /// Removes all clear copies and their folders.
    func end() { made.withLock { $0.take() }?.end() }

    func canOpen(_ protection: ProtectionClass) -> Bool { vault.canOpen(protection) }

    var isProtectedDataAvailable: Bool? {
        let standing = vault.standing
        return standing.isSetUp ? standing.isUnlocked : nil
    }

    /// The URL of a received shortcut; nil while it is locked.
    func link(in arrival: Arrival) -> URLParts? {
        guard arrival.protection.isSealed else { return ReceivedLink.parts(at: arrival.stored.path) }
        return InboxContents.beginning(
            of: arrival, inbox: inbox, keys: FileKeys(vault), limit: ReceivedLink.longestFile
        ).flatMap(ReceivedLink.parts(in:))
    }

    func folder(of handler: String) -> String? {
        vault.standing.isSetUp ? clear?.folder(of: handler) : nil
    }

    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival] {
        guard let clear, clear.folder(of: handler) != nil else {
            throw .later("no folder in memory can hold its clear copy: XDG_RUNTIME_DIR must be on a tmpfs")
        }
        let keys = FileKeys(vault)
        let bytes = arrivals.reduce(0) { $0 &+ ($1.protection.isSealed ? $1.size : 0) }
        let most = quota() ?? clear.free / 2
        guard bytes <= most else {
            throw .later(
                "its clear copy takes \(ByteCount.text(bytes)), and \(ByteCount.text(most)) are the most (clearQuota)")
        }
        // Before the question: a lock that begins waits for this copy, or the answer is no.
        opened.begin(arrivals, for: handler)
        var copies: [Arrival] = []
        guard arrivals.allSatisfy({ canOpen($0.protection) }) else {
            opened.end(arrivals, for: handler)
            throw .locked
        }
        do throws(LeavingError) {
            for arrival in arrivals {
                var copy = arrival
                if arrival.protection.isSealed {
                    copy.stored.path = try clear.copy(arrival, inbox: inbox, keys: keys, for: handler)
                    if let digests = keys.contentDigests(of: arrival) { copy.facts.digest = digests.sent }
                }
                copies.append(copy)
            }
        } catch {
            _ = close(copies)
            opened.end(arrivals, for: handler)
            switch error.code {
            case .locked: throw .locked
            case .mismatch, .different: throw .failed(error.message)
            default: throw .later(error.message)
            }
        }
        guard arrivals.allSatisfy({ stays($0.protection) }) else {
            // The lock came while they were made, and could not see all of them.
            lock()
            _ = close(copies)
            throw .locked
        }
        return copies
    }

    /// Removes the copies of items that cannot be opened any more.
    func lock() {
        clear?.removeAll { program, number in opened.protection(program, number).map(stays) ?? false }
    }

    /// Whether the keys of a class are in memory, also while no new item is opened with them.
    private func stays(_ protection: ProtectionClass) -> Bool {
        IdentityRole(protection) == .whileUnlocked ? vault.isUnlocked : vault.canOpen(protection)
    }

    func close(_ copies: [Arrival]) -> Set<ArrivalNumber> {
        guard let clear = made.withLock({ $0 }) else { return [] }
        var taken: Set<ArrivalNumber> = []
        for copy in copies where copy.protection.isSealed {
            guard let below = PathText.part(of: copy.stored.path, below: clear.path),
                let handler = PathText.names(in: below).first.map(String.init)
            else { continue }
            if clear.remove(copy.number, of: handler) == .taken { taken.insert(copy.number) }
            opened.end([copy], for: handler)
        }
        return taken
    }

    func remove(_ arrival: Arrival) {
        // A sealed item that stays is not delivered again: its departure is in the journal.
        _ = try? InboxLeaving.remove(arrival, inbox: inbox)
    }
}
