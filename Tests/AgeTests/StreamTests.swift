import Secrets
import Testing

@testable import Age

@Suite("Contents of age files")
struct StreamTests {
    private static let chunk = AgeLayout.sealedChunkBytes

    @Test(
        "contents of every size come back from a file of the calculated size",
        arguments: [0, 1, 15, 16, 65_535, 65_536, 65_537, 131_072, 262_144, 262_145, 327_680, 1_000_000])
    func sizes(count: Int) throws {
        let identity = try AgeIdentity.generate()
        let text = contents(count)
        let file = try sealed(text, to: [try AgeIdentity.generate().recipient, identity.recipient])
        let headerBytes = AgeLayout.headerBytes(recipients: 2)
        #expect(file.count == AgeLayout.sealedBytes(ofContents: count, headerBytes: headerBytes))
        #expect(AgeLayout.contentBytes(ofFile: file.count, headerBytes: headerBytes) == count)
        for step in [.max, 65_552, 1_000] {
            let (opened, fault) = try unsealed(file, with: [try AgeIdentity.generate(), identity], step: step)
            #expect(fault == nil)
            #expect(opened == text)
        }
        #expect(try unsealed(file, with: [try AgeIdentity.generate()]).fault == .noMatch)
        #expect(try unsealed(file, with: []).fault == .noMatch)
    }

    @Test("the cut into pieces makes no difference")
    func pieces() throws {
        let identity = try AgeIdentity.generate()
        let text = contents(1_234_567)
        for round in 0..<12 {
            let pieces = (0..<2_000).map { _ in Int.random(in: 1...(round < 2 ? 3_000 : 200_000)) }
            let file = try sealed(text, to: [identity.recipient], pieces: pieces)
            #expect(file.count == AgeLayout.sealedBytes(ofContents: text.count, headerBytes: 184))
            let (opened, fault) = try unsealed(file, with: [identity], step: Int.random(in: 1_000...400_000))
            #expect(fault == nil && opened == text)
        }
        for piece in [1, 65_535, 65_536, 65_537, 131_072] {
            let text = text.prefix(piece == 1 ? 70_000 : 400_000)
            let pieces = Array(repeating: piece, count: text.count / piece + 1)
            let file = try sealed(Array(text), to: [identity.recipient], pieces: pieces)
            let (opened, fault) = try unsealed(file, with: [identity], step: piece == 1 ? 7 : .max)
            #expect(fault == nil && opened == Array(text))
        }
    }

    /// Macros of tests take only copyable values.
    private func state(_ sealer: borrowing AgeSealer) -> (written: Int, tail: Int, size: Int, isFinished: Bool) {
        (sealer.contentBytes, sealer.tailBytes, sealer.fileBytes, sealer.isFinished)
    }

    @Test("a sealer that was kept goes on where it was")
    func pause() throws {
        let identity = try AgeIdentity.generate()
        let text = contents(300_000)
        var sealer = try AgeSealer(to: [identity.recipient])
        var file = sealer.header
        for (end, whole) in [(10, 0), (65_536, 0), (65_537, 65_536), (65_537, 65_536), (250_000, 196_608)] {
            let start = sealer.contentBytes + sealer.tailBytes
            text[start..<end].withUnsafeBytes { bytes in sealer.seal(bytes) { file += $0 } }
            let (written, tail, size, isFinished) = state(sealer)
            #expect(written == whole)
            #expect(tail == end - whole)
            #expect(size == file.count)
            #expect(!isFinished)
            // The part that is there is authentic, and is known not to be all.
            let (opened, fault) = try unsealed(file, with: [identity])
            #expect(fault == .truncated)
            #expect(opened == Array(text[..<whole]))
        }
        let kept = sealer
        func finish(_ kept: consuming AgeSealer) {
            text[250_000...].withUnsafeBytes { bytes in kept.seal(bytes) { file += $0 } }
            kept.finish { file += $0 }
            let (written, tail, size, isFinished) = state(kept)
            #expect(isFinished && tail == 0 && written == text.count && size == file.count)
        }
        finish(kept)
        #expect(try unsealed(file, with: [identity]).contents == text)
    }

    @Test("two files of the same contents have nothing in common but their form")
    func difference() throws {
        let recipient = try AgeIdentity.generate().recipient
        let one = try sealed(contents(100), to: [recipient])
        let other = try sealed(contents(100), to: [recipient])
        let equal = zip(one, other).dropFirst(AgeLayout.headerBytes(recipients: 1) - 16).filter { $0 == $1 }
        #expect(equal.count < 12)
    }

    @Test("a file that is cut anywhere is refused, and gives only whole chunks")
    func cuts() throws {
        let identity = try AgeIdentity.generate()
        let text = contents(3 * 65_536)
        let file = try sealed(text, to: [identity.recipient])
        let start = AgeLayout.headerBytes(recipients: 1)
        for border in 0..<3 {
            for (more, expected) in [
                (0, AgeError.truncated), (1, .truncated), (15, .truncated), (16, .damaged), (65_551, .damaged),
            ] {
                let (opened, fault) = try unsealed(
                    Array(file[..<(start + border * Self.chunk + more)]), with: [identity])
                #expect(fault == expected)
                #expect(opened == Array(text[..<(border * 65_536)]))
            }
        }
        for end in 0..<start {
            #expect(try unsealed(Array(file[..<end]), with: [identity]).fault == .truncated)
        }
    }

    @Test("bytes after the end are refused")
    func trailing() throws {
        let identity = try AgeIdentity.generate()
        for count in [65_536, 4 * 65_536] {
            let text = contents(count)
            let file = try sealed(text, to: [identity.recipient])
            for extra in [1, 16, 17, Self.chunk, 5 * Self.chunk] {
                let (opened, fault) = try unsealed(file + contents(extra), with: [identity])
                #expect(fault == .trailing)
                #expect(opened == text)
            }
        }
        // With a short last chunk nothing tells where it ended.
        #expect(try unsealed(try sealed([1, 2], to: [identity.recipient]) + [0], with: [identity]).fault == .damaged)
    }

    @Test("chunks in another order, twice, missing or from another file are refused")
    func order() throws {
        let identity = try AgeIdentity.generate()
        let text = contents(6 * 65_536 + 5)
        let file = try sealed(text, to: [identity.recipient])
        let other = try sealed(text, to: [identity.recipient])
        let start = AgeLayout.headerBytes(recipients: 1)
        func chunk(_ file: [UInt8], _ number: Int) -> ArraySlice<UInt8> {
            file[(start + number * Self.chunk)..<min(file.count, start + (number + 1) * Self.chunk)]
        }
        for (order, whole) in [
            ([1, 0, 2, 3, 4, 5, 6], 0), ([0, 1, 2, 3, 5, 4, 6], 4), ([0, 1, 1, 2, 3, 4, 5, 6], 2),
            ([0, 2, 3, 4, 5, 6], 1),
            ([0, 1, 2, 3, 4, 6], 5), ([6], 0), ([0, 1, 2, 3, 4, 5, 5, 6], 6),
        ] {
            let changed = order.reduce(into: Array(file[..<start])) { $0 += chunk(file, $1) }
            let (opened, fault) = try unsealed(changed, with: [identity])
            #expect(fault == .damaged)
            #expect(opened == Array(text[..<(whole * 65_536)]))
        }
        let mixed = file[..<(start + Self.chunk)] + other[(start + Self.chunk)...]
        #expect(try unsealed(Array(mixed), with: [identity]).fault == .damaged)
        let foreign = other[..<start] + file[start...]
        #expect(try unsealed(Array(foreign), with: [identity]).fault == .damaged)
    }

    @Test("a flipped bit in a chunk is noticed before any of its contents are given out")
    func flips() throws {
        let identity = try AgeIdentity.generate()
        let text = contents(2 * 65_536 + 40)
        let file = try sealed(text, to: [identity.recipient])
        let start = AgeLayout.headerBytes(recipients: 1)
        for index in [0, 1, 65_535, 65_536, 65_551, 65_552, 100_000, 131_103, 131_104, 131_143, 131_144, 131_159] {
            var flipped = file
            flipped[start + index] ^= 0x80
            let (opened, fault) = try unsealed(flipped, with: [identity])
            #expect(fault == .damaged)
            #expect(opened == Array(text[..<(index / Self.chunk * 65_536)]))
        }
    }

    struct Stop: Error {}

    @Test("errors of the reader and of those who take contents or ciphertext come through")
    func foreignErrors() throws {
        let identity = try AgeIdentity.generate()
        let file = try sealed(contents(100_000), to: [identity.recipient])
        #expect(throws: Stop.self) { _ = try AgeOpener(identities: [identity]) { _ in throw Stop() } }
        #expect(throws: Stop.self) {
            var opener = try AgeOpener(identities: [identity], read: reader(file))
            _ = try opener.next { _ in throw Stop() }
        }
        #expect(throws: Stop.self) {
            var sealer = try AgeSealer(to: [identity.recipient])
            try contents(100_000).withUnsafeBytes { bytes in try sealer.seal(bytes) { _ in throw Stop() } }
        }
    }

    @Test("an opener that has ended says the same again")
    func ends() throws {
        let identity = try AgeIdentity.generate()
        let file = try sealed(contents(10), to: [identity.recipient])
        var opener = try AgeOpener(identities: [identity], read: reader(file))
        let isMore = try opener.next { #expect($0.count == 10) }
        #expect(isMore)
        for _ in 0..<2 {
            let isMore = try opener.next { _ in Issue.record("there are no contents") }
            #expect(!isMore)
        }
        var cut = try AgeOpener(identities: [identity], read: reader(Array(file.dropLast())))
        for _ in 0..<2 {
            #expect(throws: AgeError.damaged) { _ = try cut.next { _ in Issue.record("there are no contents") } }
        }
    }
}
