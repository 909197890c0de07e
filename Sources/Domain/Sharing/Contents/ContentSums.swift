package import Digests

/// Both digests of contents that arrive: the one that their sender knows, and the one that stands for them from then on.
///
/// A checksum finds faults on a line that TLS covers. It does not tell two contents of an enemy apart: whoever makes both
/// can give them one XXH3. So whatever stands instead of bytes is SHA-256 (`DigestAlgorithm.lasting`).
package struct ContentSums: ~Copyable {
    /// The digests of the same contents.
    package struct Pair {
        /// By the algorithm of the verdict.
        package var sent: Digest
        /// By `DigestAlgorithm.lasting`.
        package var lasting: Digest
        /// Of a tree on a disk that keeps no executable bits: as `lasting`, without them.
        var bare: Digest?

        /// The lasting digest that later readers of the disk compute.
        package var onDisk: Digest { bare ?? lasting }
    }

    private var sent: DigestState
    /// Nil if the sender's digest is of that algorithm. In the background: it takes as long as everything else together.
    private var lasting: BackgroundDigest?

    package init(_ algorithm: DigestAlgorithm) {
        sent = DigestState(algorithm)
        lasting = algorithm == .lasting ? nil : BackgroundDigest(.lasting)
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        sent.update(bytes)
        lasting?.update(bytes)
    }

    /// The digests of everything added since the start, at which it then is again.
    package mutating func finalize() -> Pair {
        let sent = sent.finalize()
        return Pair(sent: sent, lasting: lasting?.finalize() ?? sent)
    }

    package mutating func reset() {
        sent.reset()
        lasting?.reset()
    }
}

/// Both digests of a tree that arrives, as `ContentSums`.
package struct ListingSums: ~Copyable {
    private var sent: TreeListing
    private var lasting: TreeListing
    /// Without executable bits; nil if the disk keeps them.
    private var bare: TreeListing?

    package var isInByteOrder: Bool { sent.isInByteOrder }

    /// - Parameter keepsModes: whether later readers will see executable bits.
    package init(_ algorithm: DigestAlgorithm, keepsModes: Bool = true) {
        sent = TreeListing(algorithm)
        lasting = TreeListing(.lasting)
        bare = keepsModes ? nil : TreeListing(.lasting)
    }

    package mutating func folder(_ path: SafeRelativePath) {
        sent.folder(path)
        lasting.folder(path)
        bare?.folder(path)
    }

    package mutating func link(_ path: SafeRelativePath, target: SafeLinkTarget) {
        sent.link(path, target: target)
        lasting.link(path, target: target)
        bare?.link(path, target: target)
    }

    package mutating func file(_ path: SafeRelativePath, executable: Bool, digests: ContentSums.Pair) {
        sent.file(path, executable: executable, digest: digests.sent)
        lasting.file(path, executable: executable, digest: digests.lasting)
        bare?.file(path, executable: false, digest: digests.lasting)
    }

    package mutating func finalize() -> ContentSums.Pair {
        ContentSums.Pair(sent: sent.finalize(), lasting: lasting.finalize(), bare: bare?.finalize())
    }
}
