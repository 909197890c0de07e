import HandlerCatalog
import Handlers
import Inbox
import Protection
import Secrets
import Settings
import Sharing
import Synchronization

/// Opens sealed items for handlers, by the keys that the vault has in memory.
final class ClearCopies: ClearCopying {
    let vault: Vault
    private let candidates: [String]
    private let inbox: String
    private let quota: @Sendable () -> UInt64?
    /// Made when it is used first: without data protection there is none.
    private let made = Mutex<ClearFolder?>(nil)
    let opened = OpenCopies()
    /// The streams of programs that run.
    private let streams = Mutex<[ObjectIdentifier: ClearStream]>([:])

    /// - Parameter quota: bytes of all clear copies of a call, at most; nil for half of the free memory.
    init(_ home: Home, quota: @escaping @Sendable () -> UInt64?) {
        vault = Vault(ProtectionFolder(path: home.protection), guardMemory: ProcessSecrecy.use)
        (candidates, inbox, self.quota) = (home.clearFolders, home.inbox, quota)
    }

    /// For the Inbox.
    var keys: ItemKeys { ItemKeys(vault) }

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
        // Until the key is wiped, those who read may go on.
        return standing.isSetUp ? standing.isUnlocked : nil
    }

    /// The URL of a received shortcut; nil while it is locked.
    func link(in arrival: Arrival) -> URLParts? {
        ItemReader(inbox: inbox, keys: FileKeys(vault)).beginning(of: arrival, limit: ReceivedLink.longestFile)
            .flatMap(ReceivedLink.parts(in:))
    }

    func folder(of handler: String) -> String? {
        vault.standing.isSetUp ? clear?.folder(of: handler) : nil
    }

    /// The memory that clear copies of these take.
    private static func bytes(_ arrivals: [Arrival]) -> UInt64 {
        arrivals.reduce(0) { $0 &+ ($1.protection.isSealed ? $1.size : 0) }
    }

    func fits(_ arrivals: [Arrival]) -> Bool {
        let bytes = Self.bytes(arrivals)
        guard bytes > 0 else { return true }
        return clear.map { bytes <= quota() ?? $0.free / 2 } ?? false
    }

    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival] {
        guard let clear, clear.folder(of: handler) != nil else {
            throw .tooLarge("no folder in memory can hold its clear copy: XDG_RUNTIME_DIR must be on a tmpfs")
        }
        let keys = FileKeys(vault, for: .admitted)
        let bytes = Self.bytes(arrivals)
        let most = quota() ?? clear.free / 2
        guard bytes <= most else {
            throw .tooLarge(
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
                    if let digests = keys.contentDigests(of: arrival) {
                        copy.facts.digest = digests.lasting ?? digests.sent
                    }
                }
                copies.append(copy)
            }
        } catch {
            _ = close(copies)
            opened.end(arrivals, for: handler)
            // The lock that came in the meantime removes the unfinished copy.
            throw arrivals.allSatisfy { stays($0.protection) } ? ClearCopyError(error) : .locked
        }
        guard arrivals.allSatisfy({ stays($0.protection) }) else {
            // The lock came while they were made, and could not see all of them.
            lock()
            _ = close(copies)
            throw .locked
        }
        return copies
    }

    func stream(_ arrival: Arrival, for handler: String) throws(ClearCopyError) -> ClearStream {
        // As for a clear copy: a lock that begins waits for it, or the answer is no.
        opened.begin([arrival], for: handler)
        do throws(ClearCopyError) {
            guard canOpen(arrival.protection) else { throw .locked }
            let stream = try SealedStream.open(arrival, inbox: inbox, keys: FileKeys(vault, for: .admitted))
            streams.withLock { $0[ObjectIdentifier(stream)] = stream }
            // The lock that came in the meantime could not see it.
            if !stays(arrival.protection) { lock() }
            return stream
        } catch {
            opened.end([arrival], for: handler)
            throw error
        }
    }

    func close(_ stream: ClearStream, of handler: String) {
        streams.withLock { $0[ObjectIdentifier(stream)] = nil }
        opened.end([stream.arrival], for: handler)
    }

    /// Removes the copies of items that cannot be opened any more, cuts their streams, and ends the programs with a copy of
    /// an item of the class complete. Returns at once.
    func lock() {
        for stream in streams.withLock({ Array($0.values) }) where !stays(stream.arrival.protection) { stream.lock() }
        clear?.removeAll { program, number in opened.protection(program, number).map(stays) ?? false }
        if !stays(.complete) { opened.tellOfLock() }
    }

    private func stays(_ protection: ProtectionClass) -> Bool { vault.hasKeys(for: protection) }

    func whenLocked(_ copies: [Arrival], of handler: String, _ tell: @escaping @Sendable () -> Void) {
        opened.whenLocked(copies, for: handler, tell)
        // The lock that came in the meantime could not see it.
        if copies.contains(where: { $0.protection == .complete && !stays(.complete) }) { tell() }
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
