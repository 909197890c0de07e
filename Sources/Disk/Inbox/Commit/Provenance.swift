import CLinuxShims
import Digests
import Glibc
import Sharing
import SystemCalls
import UniformTypes

/// Where an item of the Inbox comes from, as extended attributes of the file or of the tree's own folder, where the file
/// system has them. The journal has the same and more; these stay with what is moved out.
///
/// All are UTF-8 text without a NUL at the end. Nothing in Waft decides by them: whoever may write to the file may write
/// them.
///
/// | attribute | form |
/// |---|---|
/// | `user.waft.peer` | the sender's key id, in full, as `waft contacts me` prints it; missing where no key was proved |
/// | `user.waft.via` | the dialect by which it came: `waft`, `airdrop` |
/// | `user.waft.sender` | what the sender called itself: foreign text, to be escaped, at most 63 bytes |
/// | `user.waft.received` | when it was whole: `2026-11-21T09:30:00Z`, UTC |
/// | `user.waft.type` | uniform type identifier it was handed on as |
/// | `user.waft.digest` | `xxh3-128:` or `sha-256:` and hexadecimal digits; of a tree over its listing |
/// | `user.waft.transfer` | the transfer's 32 hexadecimal digits, as `waft inbox show` prints them |
/// | `user.waft.content` | of a liar only: `lying: ` and a line that says what it is |
package enum Provenance {
    package static let peer = "user.waft.peer"
    package static let via = "user.waft.via"
    package static let sender = "user.waft.sender"
    package static let received = "user.waft.received"
    package static let type = "user.waft.type"
    package static let digest = "user.waft.digest"
    package static let transfer = "user.waft.transfer"
    package static let content = "user.waft.content"

    package static let all = [peer, via, sender, received, type, digest, transfer, content]

    static func attributes(_ facts: ArrivalFacts, at time: time_t) -> [(name: String, value: [UInt8])] {
        let texts: [(String, String?)] = [
            (peer, facts.peer.provenText), (via, facts.dialect.rawValue), (sender, facts.senderName),
            (received, utc(time)), (type, facts.type.identifier),
            (digest, facts.digest.description), (transfer, facts.transfer.text),
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
    /// Bytes of one that are read; anybody can write one.
    static let maximumBytes = 512

    /// Sets attributes, as far as that goes.
    ///
    /// The kernel lets nobody but root set them on a file without write permission, not even its owner, whatever the
    /// descriptor: so the owner has that permission meanwhile. To be done before others can reach the file.
    /// - Parameter file: open for reading at least, and ours.
    static func set(_ attributes: [(name: String, value: [UInt8])], on file: Int32) {
        var status = stat()
        guard fstat(file, &status) == 0 else { return }
        let mode = status.st_mode & 0o7777
        let isSealed = mode & S_IWUSR == 0
        if isSealed, fchmod(file, mode | S_IWUSR) != 0 { return }
        for (name, value) in attributes {
            // The first no is as good as six.
            if CLinuxShims_set_attribute(file, name, value, value.count) != 0 { break }
        }
        if isSealed { fchmod(file, mode) }
    }

    /// - Returns: nil where there is none, or a longer one than any of ours.
    static func read(_ name: String, of path: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: maximumBytes)
        let count = CLinuxShims_get_attribute(path, name, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(Int(count))) : nil
    }
}

extension StagedFiles {
    func label(_ facts: ArrivalFacts) {
        let flags = O_RDONLY | O_NONBLOCK
        guard let file = try? staging.opening.open(name, below: staging.folder.raw, flags: flags) else { return }
        ExtendedAttributes.set(Provenance.attributes(facts, at: time(nil)), on: file.raw)
    }
}
