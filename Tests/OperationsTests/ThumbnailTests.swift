import Foundation
import Lines
import Sharing
import TestSupport
import Testing

@testable import Operations

@Suite("The picture of an offer")
struct ThumbnailTests {
    private let folder = TemporaryFolder()

    private func failure(_ body: () throws(WaftError) -> Void) -> WaftError? {
        do throws(WaftError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("--thumbnail takes a small PNG or JPEG image, and one line says why another file is none")
    func thumbnail() throws {
        func write(_ bytes: [UInt8]) throws -> String {
            let path = folder / "a\u{1B}.png"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return path
        }
        let image = try Thumbnail.read(write(PreviewSample.jpeg()))
        #expect(image.bytes == PreviewSample.jpeg())
        for bytes in [PreviewSample.png(513, 1), Array("GIF89a".utf8), [], PreviewSample.png(padding: 40_000)] {
            let path = try write(bytes)
            let failure = failure { () throws(WaftError) in _ = try Thumbnail.read(path) }
            #expect(failure?.code == .usage)
            #expect(failure?.reason.contains("at most 32 KiB and 512 by 512 pixels: ") == true)
        }
        let missing = failure { () throws(WaftError) in _ = try Thumbnail.read(folder / "none") }
        #expect(missing?.code == .inputMissing)
    }
}
