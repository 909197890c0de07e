import Age
import Digests
import Foundation
import Sharing
import TestSupport
import Testing

@testable import Inbox

@Suite("The listing of a sealed tree")
struct SealedListingTests {
    private func digest(_ number: Int) -> Digest { .of(.xxh3_128, [UInt8(number)]) }

    @Test("is that of its entries in the order in which they came, in whatever order their digests are known")
    func anyOrder() throws {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            let listing = SealedListing()
            var expected = TreeListing(.xxh3_128)
            var places: [SealedListing.Place] = []
            for number in 0..<4 {
                places.append(listing.file(try place("f\(number)"), executable: number == 2))
                expected.file(try place("f\(number)"), executable: number == 2, digest: digest(number))
                listing.folder(try place("f\(number)-"))
                expected.folder(try place("f\(number)-"))
                let link = try place("f\(number)-/link")
                listing.link(link, target: try SafeLinkTarget("a", of: link))
                expected.link(link, target: try SafeLinkTarget("a", of: link))
            }
            for number in order.dropLast() { listing.end(places[number], digest(number)) }
            #expect(listing.finalize() == nil, "a digest is missing")
            listing.end(places[order[3]], digest(order[3]))
            #expect(listing.finalize() == expected.finalize())
        }
    }

    @Test("is not known if its entries came in another order than readers have")
    func otherOrder() throws {
        let listing = SealedListing()
        listing.folder(try place("b"))
        listing.folder(try place("a"))
        #expect(listing.finalize() == nil)
    }

    @Test("is full when many entries wait for a file before them, and takes more when that is written")
    func full() throws {
        let listing = SealedListing()
        let first = listing.file(try place("a"), executable: false)
        var count = 1
        while !listing.isFull {
            listing.folder(try place("b\(count)"))
            count += 1
        }
        #expect(count > WriteBehindQueue.maximumFiles)
        listing.end(first, digest(0))
        #expect(!listing.isFull)
    }

    @Test("of many small files and folders is that of the tree on the disk; each file has a key of its own")
    func tree() throws {
        let sealed = try SealedInbox()
        let staged = try sealed.stage("photos", kind: .tree)
        var plain = TreeListing(.lasting)
        for number in 1000..<1300 {
            let folder = try place("d\(number)")
            try staged.makeFolder(folder)
            plain.folder(folder)
            guard number.isMultiple(of: 3) else { continue }
            let file = try place("d\(number)/f")
            let bytes = noise(number, seed: UInt64(number))
            try staged.beginFile(
                FileEntry(path: file, executable: false, modified: nil, size: UInt64(bytes.count)))
            try staged.write(bytes)
            try staged.endFile()
            plain.file(file, executable: false, digest: .of(.lasting, bytes))
        }
        let arrival = try sealed.store(staged, as: "photos", kind: .tree, of: plain.finalize(), size: 1)
        try sealed.unlock()
        let finding = try InboxVerification.verify(
            arrival, arrived: now(), inbox: sealed.path, keys: FileKeys(sealed.vault))
        #expect(finding == ItemFinding(state: .ok))
        // No two files have the same ephemeral key, and none has the key of another one.
        let shares = try everything(below: arrival.stored.path).filter { $0.hasSuffix(".age") }.map { name in
            let file = try #require(contents(of: arrival.stored.path + "/" + name))
            return try AgeHeader(parsing: file).stanzas.map(\.arguments)
        }
        #expect(shares.count == 100 && Set(shares).count == 100)
    }
}
