/// A complete PNG or JPEG image without animation, as far as its structure shows. The pixels themselves are not read.
package struct StillImage: Hashable, Sendable {
    package enum Form: String, Sendable {
        case png = "image/png"
        case jpeg = "image/jpeg"
    }

    package let form: Form
    /// By its header; both at least 1.
    package let pixels: PixelSize

    /// - Parameter bytes: the whole file.
    /// - Returns: nil for an animated image, one that is cut off, and any other file.
    package init?(_ bytes: [UInt8]) {
        guard let pixels = PixelSize(MemoryBytes(bytes: bytes)) else { return nil }
        if Self.isStillPNG(HeaderBytes(bytes)) {
            form = .png
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]), bytes.suffix(2) == [0xFF, 0xD9] {
            form = .jpeg
        } else {
            return nil
        }
        self.pixels = pixels
    }

    /// PNG (third edition), 5.3 and 5.6: chunks up to `IEND`, some of them with contents. Only an animation has `acTL`.
    private static func isStillPNG(_ bytes: HeaderBytes) -> Bool {
        guard bytes.hasText("\u{89}PNG\r\n\u{1A}\n", at: 0) else { return false }
        var (offset, hasContents) = (8, false)
        while let length = bytes.big32(offset), length <= UInt32(Int32.max) {
            if bytes.hasText("acTL", at: offset + 4) || bytes.hasText("fcTL", at: offset + 4) { return false }
            hasContents = hasContents || bytes.hasText("IDAT", at: offset + 4)
            let isLast = bytes.hasText("IEND", at: offset + 4)
            // The length, the name, the contents and their checksum.
            offset += 12 + Int(length)
            guard offset <= bytes.count else { return false }
            if isLast { return hasContents && offset == bytes.count }
        }
        return false
    }
}
