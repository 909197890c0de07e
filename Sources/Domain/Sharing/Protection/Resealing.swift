package import Digests

/// The new form of an arrival whose protection is changed, before it takes the place of the old one.
package struct Resealing: Hashable, Sendable {
    package var number: ArrivalNumber
    package var protection: ProtectionClass
    /// Of the item as it will be on the disk, as in `ArrivalFacts`.
    package var digest: Digest
    package var sentDigest: Digest?
    package var sealedContents: [UInt8]?
    /// Of the new file, on its file system.
    package var identity: FileIdentity

    package init(
        number: ArrivalNumber, protection: ProtectionClass, digest: Digest, sentDigest: Digest?,
        sealedContents: [UInt8]?, identity: FileIdentity
    ) {
        (self.number, self.protection, self.digest) = (number, protection, digest)
        (self.sentDigest, self.sealedContents, self.identity) = (sentDigest, sealedContents, identity)
    }
}
