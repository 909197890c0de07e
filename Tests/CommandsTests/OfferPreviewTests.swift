import Foundation
import Lines
import Sharing
import TestSupport
import Testing

@testable import Commands

@Suite("The words of previews in offers")
struct OfferPreviewTests {
    private let folder = TemporaryFolder()

    private func failure(_ body: () throws(CommandError) -> Void) -> CommandError? {
        do throws(CommandError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("1.2 is item 2 of offer 1, 3 is the first item of offer 3, and other words are wrong")
    func numbers() throws {
        let (one, other) = (try OfferPreviewCommand.numbers("1.2"), try OfferPreviewCommand.numbers("3"))
        #expect(one.offer == 1 && one.item == 1 && other.offer == 3 && other.item == 0)
        for text in ["", ".", "1.", ".2", "1.0", "0.1", "1.2.3", "a", "1,2", "-1", "1.٢", "99999999999999999999"] {
            let failure = failure { () throws(CommandError) in _ = try OfferPreviewCommand.numbers(text) }
            #expect(failure?.exit == .usage, "\(text)")
        }
    }

    @Test("--thumbnail takes a small PNG or JPEG image, and one line says why another file is none")
    func thumbnail() throws {
        func write(_ bytes: [UInt8]) throws -> String {
            let path = folder / "a\u{1B}.png"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return path
        }
        let image = try SendPreviews.read(write(PreviewSample.jpeg()))
        #expect(image.bytes == PreviewSample.jpeg())
        for bytes in [PreviewSample.png(513, 1), Array("GIF89a".utf8), [], PreviewSample.png(padding: 40_000)] {
            let path = try write(bytes)
            let failure = failure { () throws(CommandError) in _ = try SendPreviews.read(path) }
            #expect(failure?.exit == .usage)
            #expect(failure?.message.contains("at most 32 KiB and 512 by 512 pixels: ") == true)
            #expect(failure?.message.contains("\u{1B}") == false)
        }
        let missing = failure { () throws(CommandError) in _ = try SendPreviews.read(folder / "none") }
        #expect(missing?.exit == .inputMissing)
    }
}
