import ContentCheck
import Glibc
import Secrets
import Sharing
import Synchronization
import SystemCalls

// Contents are checked on a descriptor of our own before they are visible in the Inbox: no program can swap the file
// between the check and the move. As a rule it is the one that has written them.
extension StagedFiles {
    /// Under the lock: a discarded item is not checked, because its name may be another item's by then.
    func contentVerdict(on claim: ContentClaim) throws(TransferError) -> ContentVerdict? {
        let found = state.withLock { state -> Result<ContentVerdict?, TransferError> in
            guard state.phase == .writing else { return .failure(Self.goneFault) }
            do throws(TransferError) {
                return .success(try verdict(on: claim, &state))
            } catch {
                return .failure(error)
            }
        }
        return try found.get()
    }

    private func verdict(on claim: ContentClaim, _ state: inout State) throws(TransferError) -> ContentVerdict? {
        guard let checker, !isTree else { return nil }
        do {
            let file = try open(&state)
            var status = stat()
            try systemCall { fstat(file, &status) }
            let verdict: ContentVerdict
            if let sealing {
                let sealed = try SealedFile.open(
                    FileDescriptor.copy(of: file), sealing.keys, chunkKey: state.chunkKey)
                verdict = claim.verdict(by: checker, size: sealed.size) { try? sealed.bytes(at: $0, count: $1) }
            } else {
                let size = UInt64(max(0, status.st_size))
                verdict = claim.verdict(by: checker, descriptor: file, size: size)
            }
            if verdict.outcome == .lying { try quarantine(file, status, verdict) }
            return verdict
        } catch {
            let cause = error as? SystemError ?? SystemError(EIO)
            throw .disk("cannot look into", name, cause, on: staging.folder.raw)
        }
    }

    private func quarantine(
        _ file: Int32,
        _ status: stat,
        _ verdict: ContentVerdict
    ) throws(SystemError) {
        try systemCall { fchmod(file, status.st_mode & 0o444) }
        // If the mark cannot be set, the receipt and the log still report the liar.
        ContentMark.set(verdict, on: file)
    }
}

/// The mark of a liar, as an extended attribute, if the file system has them.
enum ContentMark {
    static func set(_ verdict: ContentVerdict, on file: Int32) {
        let text = "\(verdict.outcome.rawValue): \(verdict.explanation)".utf8.prefix(ExtendedAttributes.maximumBytes)
        ExtendedAttributes.set([(name: Provenance.content, value: Array(text))], on: file)
    }

    /// - Returns: nil if there is none. Not escaped.
    static func read(_ path: String) -> String? {
        ExtendedAttributes.read(Provenance.content, of: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
