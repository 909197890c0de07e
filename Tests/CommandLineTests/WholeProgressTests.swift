import Testing

@testable import CommandLine

@Suite("The progress of a sending to several peers")
struct WholeProgressTests {
    private let start = ContinuousClock.now

    private func lines(_ progress: inout WholeProgress, width: Int = 100) -> [String] {
        progress.lines("image.iso", at: start + .seconds(1), width: width)
    }

    @Test("is one line with the bytes of all, and names the peers that have not answered")
    func whole() {
        var progress = WholeProgress(peers: 3)
        for name in ["kitchen", "attic", "cellar"] { progress.asks(name, name) }
        #expect(lines(&progress) == ["waiting for the answer of attic, cellar, kitchen"])
        progress.moves("kitchen", 50, of: 100, moved: 50)
        progress.moves("attic", 100, of: 100, moved: 100)
        #expect(
            lines(&progress).first?.hasPrefix("image.iso → 3 peers [") == true
                && lines(&progress).first?.contains("75%  150 bytes of 200 bytes") == true, "\(lines(&progress))")
        #expect(lines(&progress).last == "waiting for the answer of cellar")
        progress.ends("cellar")
        #expect(lines(&progress).count == 1)
    }

    @Test("says at a terminal that Enter begins without the peers that have not answered, until bytes move")
    func beginning() {
        var progress = WholeProgress(peers: 4, canBegin: true)
        for name in ["kitchen", "attic", "cellar", "study"] { progress.asks(name, name) }
        progress.accepts("kitchen")
        #expect(lines(&progress) == ["waiting for the answer of attic, cellar, study"])
        progress.accepts("study")
        #expect(lines(&progress) == ["2 of 4 have answered; Enter begins without attic, cellar"])
        progress.moves("kitchen", 50, of: 100, moved: 50)
        #expect(lines(&progress).last == "waiting for the answer of attic, cellar")
    }

    @Test("names the peers that have less than half of what most have, the last one first, and no peer that has ended")
    func behind() {
        var progress = WholeProgress(peers: 7)
        let done: [(String, UInt64)] = [
            ("a", 100), ("b", 90), ("c", 80), ("d", 95), ("e", 30), ("f", 10), ("g", 20),
        ]
        for (name, bytes) in done {
            progress.asks(name, name)
            progress.moves(name, bytes, of: 100, moved: bytes)
        }
        #expect(lines(&progress).last == "behind: f 10%, g 20%, e 30%")
        progress.ends("f")
        #expect(lines(&progress).last == "behind: g 20%, e 30%")
        // A narrow terminal gets what fits.
        #expect(lines(&progress, width: 12).allSatisfy { $0.count <= 12 })
    }

    @Test("has no bar while the size of a sending is unknown")
    func unknown() {
        var progress = WholeProgress(peers: 2)
        progress.asks("a", "a")
        progress.moves("a", 5, of: nil, moved: 5)
        #expect(lines(&progress) == ["image.iso → 2 peers 5 bytes"])
    }
}
