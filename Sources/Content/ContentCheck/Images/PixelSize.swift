/// Width and height of an image in pixels, as its header claims. The pixels themselves are not read.
package struct PixelSize: Hashable, Sendable {
    package let width: UInt32
    package let height: UInt32

    /// - Returns: nil for an image without pixels.
    init?(width: UInt32?, height: UInt32?) {
        guard let width, let height, width > 0, height > 0 else { return nil }
        (self.width, self.height) = (width, height)
    }

    /// Reads the header of a PNG, JPEG, GIF, BMP, WebP, TIFF, HEIF or AVIF image.
    /// - Returns: nil for any other file, and for a header that is cut off or senseless.
    /// - Parameters:
    ///   - descriptor: of a regular file, open for reading; stays the caller's. Its position does not move.
    ///   - size: in bytes, as the disk reports it.
    package init?(descriptor: Int32, size: UInt64) {
        self.init(DescriptorBytes(descriptor: descriptor, size: size))
    }

    init?(_ source: some ByteSource) {
        let head = HeaderBytes(of: source, at: 0, count: 64)
        let size: PixelSize? =
            if head.hasText("\u{89}PNG", at: 0) {
                Self.png(head)
            } else if head.hasText("GIF8", at: 0) {
                PixelSize(width: head.little16(6), height: head.little16(8))
            } else if head.hasText("BM", at: 0) {
                Self.bitmap(head)
            } else if head.hasText("RIFF", at: 0), head.hasText("WEBP", at: 8) {
                Self.webP(head)
            } else if head.big16(0) == 0xFFD8 {
                Self.jpeg(source)
            } else if head.hasText("II*\0", at: 0) || head.hasText("MM\0*", at: 0) {
                Self.tiff(source, isBigEndian: head.hasText("M", at: 0))
            } else if head.hasText("ftyp", at: 4) {
                Self.isoMedia(source)
            } else {
                nil
            }
        guard let size else { return nil }
        self = size
    }

    /// PNG (third edition), 11.2.1: the first chunk is IHDR.
    private static func png(_ head: HeaderBytes) -> PixelSize? {
        guard head.hasText("IHDR", at: 12), let width = head.big32(16), let height = head.big32(20),
            width <= Int32.max, height <= Int32.max
        else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// The core header has 12 bytes and sizes of 16 bits. In the others the height is negative if the rows go down.
    private static func bitmap(_ head: HeaderBytes) -> PixelSize? {
        if head.little32(14) == 12 { return PixelSize(width: head.little16(18), height: head.little16(20)) }
        guard let width = head.little32(18), width <= Int32.max, let height = head.little32(22) else { return nil }
        return PixelSize(width: width, height: Int32(bitPattern: height).magnitude)
    }

    /// RFC 9649: the first chunk has the size in one of three forms.
    private static func webP(_ head: HeaderBytes) -> PixelSize? {
        if head.hasText("VP8X", at: 12) {
            return PixelSize(width: head.little24(24).map { $0 + 1 }, height: head.little24(27).map { $0 + 1 })
        }
        if head.hasText("VP8L", at: 12), head.byte(20) == 0x2F, let bits = head.little32(21) {
            return PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
        }
        // The three bytes before are the start code of a key frame.
        guard head.hasText("VP8 ", at: 12), head.little24(23) == 0x2A_019D else { return nil }
        return PixelSize(
            width: head.little16(26).map { $0 & 0x3FFF }, height: head.little16(28).map { $0 & 0x3FFF })
    }
}
