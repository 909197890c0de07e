import Foundation
import Pairing
import Sharing
import TestSupport
import Testing

@testable import Sending

@Suite("Codes that have failed")
struct FailedCodesTests {
    private let folder = TemporaryFolder()

    @Test("are known for an hour by a digest alone, also after the clock was set back, and at most 16 of them")
    func remembered() throws {
        let path = folder.path + "/failed-codes.json"
        let failed = FailedCodes(path: path)
        let code = try SpokenCode(text: "7-pumpkin-sausage")
        let (start, hour) = (WallTime(milliseconds: 5_000_000_000), Int64(3_600_000))
        #expect(!failed.contains(code, now: start))
        failed.note(code, now: start)
        #expect(failed.contains(code, now: start))
        #expect(!failed.contains(try SpokenCode(text: "7-pumpkin-salmon"), now: start))
        #expect(failed.contains(code, now: WallTime(milliseconds: start.milliseconds + hour - 1)))
        #expect(!failed.contains(code, now: WallTime(milliseconds: start.milliseconds + hour)))
        #expect(!failed.contains(code, now: WallTime(milliseconds: start.milliseconds - 1)))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains("pumpkin") && text.utf8.count < 400)
        for _ in 0..<FailedCodes.maximumCount { failed.note(.random(words: 2), now: start) }
        #expect(!failed.contains(code, now: start))
    }

    @Test("are none in a file that is damaged, which the next one replaces")
    func damaged() throws {
        let path = folder.path + "/failed-codes.json"
        try "{".write(toFile: path, atomically: false, encoding: .utf8)
        let (failed, code) = (FailedCodes(path: path), SpokenCode.random(words: 2))
        #expect(!failed.contains(code))
        failed.note(code)
        #expect(failed.contains(code))
    }
}
