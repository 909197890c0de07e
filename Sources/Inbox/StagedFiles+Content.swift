import CLinuxShims
import ContentCheck
import Glibc
import Sharing
import SystemCalls
import UniformTypes

// What arrived is looked into on a descriptor of our own, before it can be seen in the Inbox: nobody can swap it between
// the check and the move.
extension StagedFiles {
    func contentVerdict(declared: UniformType) throws(TransferFault) -> ContentVerdict? {
        guard let checker, !isTree else { return nil }
        do {
            let file = try staging.opening.open(name, below: staging.folder.raw, flags: O_RDONLY | O_NONBLOCK)
            var status = stat()
            try systemCall { fstat(file.raw, &status) }
            let size = UInt64(max(0, status.st_size))
            let verdict = checker.check(descriptor: file.raw, declared: declared, size: size)
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
        ContentMark.set(verdict, on: file)
    }
}

/// The mark that a liar bears, as an extended attribute, where the file system has them.
enum ContentMark {
    private static let attribute = "user.waft.content"
    /// Bytes of a mark that are read; anybody can write one.
    private static let maximumBytes = 512

    static func set(_ verdict: ContentVerdict, on file: Int32) {
        let text = Array("\(verdict.outcome.rawValue): \(verdict.explanation)".utf8.prefix(maximumBytes))
        // Without the attribute the receipt and the log still say it.
        _ = CLinuxShims_set_attribute(file, attribute, text, text.count)
    }

    /// - Returns: nil where there is none. Not escaped.
    static func read(_ path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: maximumBytes)
        let count = CLinuxShims_get_attribute(path, attribute, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes.prefix(Int(count)), as: UTF8.self)
    }
}
