import ContentCheck
import Executors
import Glibc
import Sharing
import Synchronization
import SystemCalls

// What arrived is looked into on a descriptor of our own, before it can be seen in the Inbox: nobody can swap it between
// the check and the move.
extension StagedFiles {
    func expectContentVerdict(on claim: ContentClaim) {
        guard checker != nil, !isTree else { return }
        let look = ContentLook()
        state.withLock { $0.look = look }
        ContentLook.thread.enqueue { [self] in
            look.run { [self] in find(claim) }
        }
    }

    func contentVerdict(on claim: ContentClaim) throws(TransferFault) -> ContentVerdict? {
        guard let look = state.withLock({ $0.look }) else { return try find(claim).get() }
        return try look.result { [self] in find(claim) }.get()
    }

    /// Under the lock: what becomes of the item waits for this, and of one that is gone nothing is found out. Its name may
    /// be another's by then.
    private func find(_ claim: ContentClaim) -> Result<ContentVerdict?, TransferFault> {
        state.withLock { state in
            guard state.phase == .writing else { return .failure(Self.goneFault) }
            do throws(TransferFault) {
                return .success(try verdict(on: claim))
            } catch {
                return .failure(error)
            }
        }
    }

    private func verdict(on claim: ContentClaim) throws(TransferFault) -> ContentVerdict? {
        guard let checker, !isTree else { return nil }
        do {
            let file = try staging.opening.open(name, below: staging.folder.raw, flags: O_RDONLY | O_NONBLOCK)
            var status = stat()
            try systemCall { fstat(file.raw, &status) }
            let size = UInt64(max(0, status.st_size))
            let verdict = claim.verdict(by: checker, descriptor: file.raw, size: size)
            if verdict.outcome == .lying { try quarantine(file.raw, status, verdict) }
            return verdict
        } catch {
            throw .disk("cannot look into", name, error, on: staging.folder.raw)
        }
    }

    private func quarantine(
        _ file: Int32,
        _ status: stat,
        _ verdict: ContentVerdict
    ) throws(SystemError) {
        try systemCall { fchmod(file, status.st_mode & 0o444) }
        // Without the mark the receipt and the log still say it.
        ContentMark.set(verdict, on: file)
    }
}

/// A verdict that a second thread finds out while the next items come; or whoever needs it before that one has begun.
final class ContentLook: Sendable {
    typealias Found = Result<ContentVerdict?, TransferFault>

    /// One for all items: they are looked into in the order in which they came.
    static let thread = SerialThread()

    private struct State {
        var isClaimed = false
        var found: Found?
    }

    private let state = Mutex(State())
    private let finished = Semaphore()

    /// Finds out, unless somebody does or has.
    func run(_ find: () -> Found) {
        let isOurs = state.withLock { state in
            defer { state.isClaimed = true }
            return !state.isClaimed
        }
        guard isOurs else { return }
        let found = find()
        state.withLock { $0.found = found }
        finished.signal()
    }

    /// What was found; waits for it where another thread is at it.
    func result(_ find: () -> Found) -> Found {
        run(find)
        while true {
            if let found = state.withLock({ $0.found }) { return found }
            finished.wait()
        }
    }
}

/// The mark that a liar bears, as an extended attribute, where the file system has them.
enum ContentMark {
    static func set(_ verdict: ContentVerdict, on file: Int32) {
        let text = "\(verdict.outcome.rawValue): \(verdict.explanation)".utf8.prefix(ExtendedAttributes.maximumBytes)
        ExtendedAttributes.set([(name: Provenance.content, value: Array(text))], on: file)
    }

    /// - Returns: nil where there is none. Not escaped.
    static func read(_ path: String) -> String? {
        ExtendedAttributes.read(Provenance.content, of: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
