package import Digests

/// The digest of an item with more than contents: over the listing of a tree, in the order in which it is sent.
///
/// A file contributes its path, its executable bit and its own digest; a folder its path; a link its path and target.
/// Times are left out: they are not content. Both sides compute it, so that a missing or renamed entry shows.
/// The bytes are fixed by the protocol (section "Tree digest").
package struct TreeListing: ~Copyable {
    private var state: DigestState
    private var last: SafeRelativePath?
    /// Whether the entries have come in byte order, on which all readers of the tree agree: each folder right before
    /// its contents, the names in a folder by their bytes. Only the order is checked: a missing folder goes unnoticed.
    package private(set) var isInByteOrder = true

    package init(_ algorithm: DigestAlgorithm) {
        self.state = DigestState(algorithm)
    }

    package mutating func folder(_ path: SafeRelativePath) {
        add("d", path) { _ in }
    }

    package mutating func link(_ path: SafeRelativePath, target: SafeLinkTarget) {
        add("l", path) { $0.update(target.text) }
    }

    package mutating func file(_ path: SafeRelativePath, executable: Bool, digest: Digest) {
        add(executable ? "x" : "f", path) { state in digest.withUnsafeBytes { state.update($0) } }
    }

    package mutating func finalize() -> Digest {
        state.finalize()
    }

    /// `kind path NUL value NUL`, where NUL can stand in neither path nor target.
    private mutating func add(_ kind: StaticString, _ path: SafeRelativePath, value: (inout DigestState) -> Void) {
        if isInByteOrder, let last { isInByteOrder = last.precedes(path) }
        last = path
        state.update(UnsafeRawBufferPointer(start: kind.utf8Start, count: kind.utf8CodeUnitCount))
        state.update(path.text)
        Self.endField(&state)
        value(&state)
        Self.endField(&state)
    }

    private static func endField(_ state: inout DigestState) {
        withUnsafeBytes(of: UInt8(0)) { state.update($0) }
    }
}

extension DigestState {
    fileprivate mutating func update(_ text: String) {
        var text = text
        text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }
}
