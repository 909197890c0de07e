package import Digests

/// The digest of an item with more than contents: over the listing of a tree, in the order in which it is sent.
///
/// A file contributes its path, its executable bit and its own digest; a folder its path; a link its path and target.
/// Times are left out: they are not content. Both sides compute it, so that a missing or renamed entry shows.
/// The bytes are fixed by the protocol (section "Tree digest").
package struct TreeListing: ~Copyable {
    private var state: DigestState

    package init(_ algorithm: DigestAlgorithm) {
        self.state = DigestState(algorithm)
    }

    package mutating func folder(_ path: SafeRelativePath) {
        add("d", path.text, [])
    }

    package mutating func link(_ path: SafeRelativePath, target: SafeLinkTarget) {
        add("l", path.text, Array(target.text.utf8))
    }

    package mutating func file(_ path: SafeRelativePath, executable: Bool, digest: Digest) {
        add(executable ? "x" : "f", path.text, digest.bytes)
    }

    package mutating func finalize() -> Digest {
        state.finalize()
    }

    /// `kind path NUL value NUL`, where NUL can stand in neither path nor target.
    private mutating func add(_ kind: StaticString, _ path: String, _ value: [UInt8]) {
        var line: [UInt8] = []
        line.reserveCapacity(path.utf8.count + value.count + 3)
        line.append(kind.utf8Start.pointee)
        line.append(contentsOf: path.utf8)
        line.append(0)
        line.append(contentsOf: value)
        line.append(0)
        line.withUnsafeBytes { state.update($0) }
    }
}
