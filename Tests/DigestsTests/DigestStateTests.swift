import Digests
import Testing

@Suite("The state of a digest")
struct DigestStateTests {
    /// Bytes that repeat with a prime period, so that no two blocks of the algorithms are the same.
    static func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }

    static let xxh3: [(content: [UInt8], text: String)] = [
        ([], "99aa06d3014798d86001c324468d497f"),
        (Array("a".utf8), "a96faf705af16834e6c632b61e964e1f"),
        (Array("abc".utf8), "06b05ab6733a618578af5f94892f3950"),
        (Array("hello, world".utf8), "11c83d9c1ee368164c0abe17b55db69c"),
        // The algorithm changes its method at 240 bytes.
        (pattern(240), "65b5be86da5540e7c92b68e16f83bbb6"),
        (pattern(241), "1da1cb61bcb8a2a102e8cd95421c6d02"),
        (pattern(1000), "18bf41bc8229e27733ef703fb2b20ed1"),
        (pattern(1 << 20), "53738d98098cabba6e0d7ac36b8c10ff"),
    ]

    // The examples of FIPS 180-4, and one of 1 MiB.
    static let sha256: [(content: [UInt8], text: String)] = [
        ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            Array(repeating: UInt8(ascii: "a"), count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
        (pattern(1 << 20), "631b84027d6b9e52b539c4e8373622d23032dfadc64d60af87339c9037e4f769"),
    ]

    @Test("the published vectors of XXH3-128 come out", arguments: xxh3.indices)
    func xxh3Vectors(index: Int) {
        let vector = Self.xxh3[index]
        #expect(Digest.of(.xxh3_128, vector.content).description == "xxh3-128:" + vector.text)
    }

    @Test("the published vectors of SHA-256 come out", arguments: sha256.indices)
    func sha256Vectors(index: Int) {
        let vector = Self.sha256[index]
        #expect(Digest.of(.sha256, vector.content).description == "sha-256:" + vector.text)
    }

    @Test("content cut at any byte has the digest of the whole", arguments: DigestAlgorithm.allCases)
    func cutAnywhere(algorithm: DigestAlgorithm) {
        let content = Self.pattern(600)
        let whole = Digest.of(algorithm, content)
        var state = DigestState(algorithm)
        for cut in 0...content.count {
            state.update(content[..<cut])
            state.update(content[cut...])
            #expect(state.finalize() == whole, "cut at \(cut)")
        }
    }

    @Test("content given a byte at a time has the digest of the whole", arguments: DigestAlgorithm.allCases)
    func byteByByte(algorithm: DigestAlgorithm) {
        let content = Self.pattern(3000)
        var state = DigestState(algorithm)
        for byte in content { state.update(CollectionOfOne(byte)) }
        #expect(state.finalize() == Digest.of(algorithm, content))
    }

    @Test("a finished state starts again at no content", arguments: DigestAlgorithm.allCases)
    func reuseAfterFinalize(algorithm: DigestAlgorithm) {
        var state = DigestState(algorithm)
        for count in [0, 1, 240, 5000, 0, 63, 64, 65] {
            state.update(Self.pattern(count))
            #expect(state.finalize() == Digest.of(algorithm, Self.pattern(count)))
        }
    }

    @Test("a reset forgets all added bytes", arguments: DigestAlgorithm.allCases)
    func reset(algorithm: DigestAlgorithm) {
        var state = DigestState(algorithm)
        state.update(Self.pattern(777))
        state.reset()
        state.update("abc".utf8)
        #expect(state.finalize() == Digest.of(algorithm, "abc".utf8))
        state.reset()
        #expect(state.finalize() == Digest.of(algorithm, []))
    }

    @Test("empty updates change nothing, even with no address", arguments: DigestAlgorithm.allCases)
    func emptyUpdates(algorithm: DigestAlgorithm) {
        var state = DigestState(algorithm)
        state.update(UnsafeRawBufferPointer(start: nil, count: 0))
        state.update([UInt8]())
        #expect(state.finalize() == Digest.of(algorithm, []))
    }

    @Test("content that is not contiguous is summed up alike", arguments: DigestAlgorithm.allCases)
    func sequences(algorithm: DigestAlgorithm) {
        var state = DigestState(algorithm)
        state.update((0..<300).lazy.map { UInt8($0 % 251) })
        #expect(state.finalize() == Digest.of(algorithm, Self.pattern(300)))
    }

    @Test("states work side by side and inside classes, across tasks", arguments: DigestAlgorithm.allCases)
    func sideBySide(algorithm: DigestAlgorithm) async {
        actor Summer {
            var state: DigestState
            init(_ algorithm: DigestAlgorithm) { state = DigestState(algorithm) }
            func sum(_ count: Int) -> Digest {
                state.update(DigestStateTests.pattern(count))
                return state.finalize()
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for count in 1...16 {
                group.addTask {
                    let summer = Summer(algorithm)
                    for _ in 0..<8 {
                        let digest = await summer.sum(count * 100)
                        #expect(digest == Digest.of(algorithm, DigestStateTests.pattern(count * 100)))
                    }
                }
            }
        }
    }
}
