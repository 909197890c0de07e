import Digests
import Glibc
import Handlers
import Inbox
import Sharing
import SystemCalls

/// A sealed item that a program reads from a pipe. Only one thread uses the file: its contents are passed on once.
final class SealedStream: @unchecked Sendable {
    private let arrival: Arrival
    private let file: SealedFile
    /// Of the contents that arrived.
    private let digest: Digest

    private init(_ arrival: Arrival, _ file: SealedFile, _ digest: Digest) {
        (self.arrival, self.file, self.digest) = (arrival, file, digest)
    }

    /// - Parameter inbox: absolute path of the Inbox.
    static func open(_ arrival: Arrival, inbox: String, keys: FileKeys) throws(ClearCopyError) -> ClearStream {
        do throws(LeavingError) {
            let reader = ItemReader(inbox: inbox, keys: keys)
            let source = SealedStream(arrival, try reader.open(arrival), try reader.digest(of: arrival))
            var shown = arrival
            if let digests = keys.contentDigests(of: arrival) { shown.facts.digest = digests.lasting ?? digests.sent }
            return ClearStream(shown) { sink throws(ClearCopyError) in try source.pass(sink) }
        } catch {
            throw ClearCopyError(error)
        }
    }

    private func pass(_ sink: ClearStream.Sink) throws(ClearCopyError) {
        do throws(SealedFileError) {
            // Other contents are known at their end, before the program sees it.
            try ItemReader.read(file, digest) { contents throws(SealedFileError) in
                // Nobody hears of this one: the program has ended, or does not get the rest.
                guard sink(contents) else { throw .system(SystemError(ECANCELED)) }
            }
        } catch {
            throw ClearCopyError(ItemReader.reason(error, arrival))
        }
    }
}

extension ClearCopyError {
    init(_ error: LeavingError) {
        switch error.code {
        case .locked: self = .locked
        case .mismatch, .different: self = .failed(error.message)
        default: self = .later(error.message)
        }
    }
}
