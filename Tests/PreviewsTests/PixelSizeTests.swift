import ContentCheck
import Previews
import Testing

@Suite("Pixels by the header of an image")
struct PixelSizeTests {
    private let files = PreviewFolder()

    static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        + [0, 0, 2, 0x80, 0, 0, 1, 0xE0, 8, 2, 0, 0, 0]
    private static let jpeg: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0, 0, 0xFF, 0xFF, 0xC2, 0, 17, 8, 1, 0xE0, 2, 0x80, 3]
    private static let gif: [UInt8] = Array("GIF89a".utf8) + [0x80, 2, 0xE0, 1, 0, 0, 0]
    private static let bmp: [UInt8] =
        Array("BM".utf8) + [UInt8](repeating: 0, count: 12) + [40, 0, 0, 0, 0x80, 2, 0, 0, 0x20, 0xFE, 0xFF, 0xFF]
        + [1, 0, 24, 0] + [UInt8](repeating: 0, count: 24)
    private static let tiff: [UInt8] =
        Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 2, 1, 0, 0, 3, 0, 0, 0, 1, 2, 0x80, 0, 0]
        + [1, 1, 0, 4, 0, 0, 0, 1, 0, 0, 1, 0xE0, 0, 0, 0, 0]
    private static func webP(_ chunk: String, _ rest: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + [60, 0, 0, 0] + Array("WEBP\(chunk)".utf8) + [10, 0, 0, 0] + rest
            + [UInt8](repeating: 0, count: 40)
    }

    @Test("PNG, JPEG, GIF, BMP, TIFF and the three forms of WebP are read")
    func formats() throws {
        let images: [(String, [UInt8])] = [
            ("a.png", Self.png), ("a.jpg", Self.jpeg), ("a.gif", Self.gif), ("a.bmp", Self.bmp), ("a.tiff", Self.tiff),
            ("x.webp", Self.webP("VP8X", [0, 0, 0, 0, 0x7F, 2, 0, 0xDF, 1, 0])),
            ("l.webp", Self.webP("VP8L", [0x2F, 0x7F, 0xC2, 0x77, 0])),
            ("v.webp", Self.webP("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 2, 0xE0, 1])),
        ]
        for (name, bytes) in images { #expect(try files.pixels(bytes, name) == [640, 480], "\(name)") }
    }

    @Test("a HEIF has the size of its largest image, not of its thumbnail")
    func heif() throws {
        func box(_ name: String, _ contents: [UInt8]) -> [UInt8] {
            let count = UInt8(contents.count + 8)
            return [0, 0, 0, count] + Array(name.utf8) + contents
        }
        func size(_ width: UInt8, _ height: UInt8) -> [UInt8] {
            box("ispe", [0, 0, 0, 0, 0, 0, width, 0, 0, 0, height, 0])
        }
        let sizes = box("iprp", box("ipco", size(1, 1) + size(2, 3)))
        let file = box("ftyp", Array("heic\0\0\0\0mif1heic".utf8)) + box("meta", [0, 0, 0, 0] + sizes)
        #expect(try files.pixels(file, "a.heic") == [512, 768])
    }

    @Test("a header that claims 60,000 times 60,000 pixels is told, and no program draws it")
    func claims() throws {
        var bytes = Self.png
        bytes.replaceSubrange(16..<24, with: [0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60])
        guard case .image(let size)? = try files.finding(bytes, "a.png").preview else {
            Issue.record("no size")
            return
        }
        #expect(size.width == 60_000 && size.height == 60_000 && !size.isDrawable)
    }

    @Test("a header that is cut off anywhere, or claims nothing, has no size and ends no program")
    func damage() throws {
        for (name, bytes, whole) in [
            ("a.png", Self.png, 24), ("a.jpg", Self.jpeg, 19), ("a.gif", Self.gif, 10), ("a.bmp", Self.bmp, 26),
            ("a.tiff", Self.tiff, 32),
        ] {
            for count in 0..<bytes.count where count < whole - 2 {
                #expect(try files.pixels(Array(bytes.prefix(count)), name) == nil, "\(name) \(count)")
            }
        }
        #expect(try files.pixels(Self.png.prefix(16) + [UInt8](repeating: 0, count: 13), "a.png") == nil)
        #expect(try files.pixels(Self.png.prefix(16) + [UInt8](repeating: 0xFF, count: 13), "a.png") == nil)
        // Segments without end.
        let endless = [0xFF, 0xD8] + Array(repeatElement([0xFF, 0xE0, 0, 2] as [UInt8], count: 100_000).joined())
        #expect(try files.pixels(endless, "a.jpg") == nil)
        #expect(try files.pixels([0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 100_000), "a.jpg") == nil)
    }
}
