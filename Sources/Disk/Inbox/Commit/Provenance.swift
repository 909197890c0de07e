import CLinuxShims
import Digests
import Glibc
import Sharing
import Synchronization
import SystemCalls
import UniformTypes

/// The origin of an item in the Inbox, as extended attributes of the file or of the tree's own folder, if the file
/// system has them. The journal has the same facts and more; the attributes stay with an item that is moved out.
///
/// All are UTF-8 text without a NUL at the end. Waft never bases a decision on them: every program that may write to
/// the file may write them.
///
/// | attribute | form |
/// |---|---|
/// | `user.waft.peer` | the sender's key id, in full, as `waft contacts me` prints it; absent without a proved key |
/// | `user.waft.via` | the dialect of the transfer: `waft` and others |
/// | `user.waft.sender` | the sender's own name for itself: foreign text, to be escaped, at most 63 bytes |
/// | `user.waft.received` | the time at which it was whole: `2026-11-21T09:30:00Z`, UTC |
/// | `user.waft.type` | the uniform type identifier under which it was handed on |
/// | `user.waft.digest` | `xxh3-128:` or `sha-256:` and hexadecimal digits; of a tree over its listing; of a sealed item as it is on the disk |
/// | `user.waft.transfer` | the transfer's 32 hexadecimal digits, as `waft inbox show` prints them |
/// | `user.waft.protection` | only on a sealed item: `unlessOpen` and others |
/// | `user.waft.content` | only on a liar: `lying: ` and a line that says what the content really is |
package enum Provenance {
    package static let peer = "user.waft.peer"
    package static let via = "user.waft.via"
    package static let sender = "user.waft.sender"
    package static let received = "user.waft.received"
    package static let type = "user.waft.type"
    package static let digest = "user.waft.digest"
    package static let transfer = "user.waft.transfer"
    package static let protection = "user.waft.protection"
    package static let content = "user.waft.content"

    package static let all = [peer, via, sender, received, type, digest, transfer, protection, content]

    static func attributes(_ facts: ArrivalFacts, at time: time_t) -> [(name: String, value: [UInt8])] {
        let texts: [(String, String?)] = [
            (peer, facts.peer.provenText), (via, facts.dialect.name), (sender, facts.senderName),
            (received, utc(time)), (type, facts.type.identifier),
            (digest, facts.digest.description), (transfer, facts.transfer.text),
            (protection, facts.protection.isSealed ? facts.protection.rawValue : nil),
        ]
        return texts.compactMap { name, text in text.map { (name: name, value: Array($0.utf8)) } }
    }

    private static func utc(_ time: time_t) -> String {
        var (time, parts) = (time, tm())
        gmtime_r(&time, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
            let count = strftime(buffer.baseAddress.unsafelyUnwrapped, buffer.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
            return String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
        }
    }
}

/// Extended attributes, where the file system has them.
enum ExtendedAttributes {
    /// Maximum bytes read of one attribute; any program can write one.
    static let maximumBytes = 512

    /// Sets attributes as far as possible; stops at the first failure.
    ///
    /// On a file without write permission the kernel lets only root set attributes, even by a descriptor that is open for
    /// writing. So the owner gets this permission meanwhile. Call this before others can reach the file.
    /// - Parameter file: open at least for reading, and owned by this user.
    static func set(_ attributes: [(name: String, value: [UInt8])], on file: Int32) {
        var status = stat()
        guard fstat(file, &status) == 0 else { return }
        let mode = status.st_mode & 0o7777
        let isSealed = mode & S_IWUSR == 0
        if isSealed, fchmod(file, mode | S_IWUSR) != 0 { return }
        for (name, value) in attributes {
            // If one attribute fails, the others fail too.
            if CLinuxShims_set_attribute(file, name, value, value.count) != 0 { break }
        }
        if isSealed { fchmod(file, mode) }
    }

    /// - Returns: nil if there is none, or if it is longer than any that Waft writes.
    static func read(_ name: String, of path: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: maximumBytes)
        let count = CLinuxShims_get_attribute(path, name, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(Int(count))) : nil
    }
}

extension StagedFiles {
    func label(_ facts: ArrivalFacts) throws(TransferError) {
        let attributes = Provenance.attributes(facts, at: time(nil))
        try state.withLock { state throws(TransferError) in
            guard state.phase == .writing, let item = try? open(&state) else { return }
            ExtendedAttributes.set(attributes, on: item)
            try closeItem(&state)
        }
    }
}
