/// Bytes of pictures, as far as their structure matters: the pixels themselves are missing.
package enum PreviewSample {
    /// - Parameters:
    ///   - padding: bytes of a text in it.
    ///   - texts: further texts by their keys.
    package static func png(
        _ width: UInt32 = 2, _ height: UInt32 = 3, isAnimated: Bool = false, padding: Int = 0,
        texts: [String: String] = [:]
    ) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", big(width) + big(height) + [8, 2, 0, 0, 0])
            + (isAnimated ? chunk("acTL", big(2) + big(0)) : [])
            + (padding > 0 ? chunk("tEXt", [UInt8](repeating: 0x61, count: padding)) : [])
            + texts.sorted { $0.key < $1.key }.flatMap { chunk("tEXt", Array("\($0.key)\0\($0.value)".utf8)) }
            + chunk("IDAT", [0x78, 0x9C, 3, 0, 0, 0, 0, 1]) + chunk("IEND", [])
    }

    package static func jpeg(_ width: UInt16 = 2, _ height: UInt16 = 3) -> [UInt8] {
        [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0, 0, 0xFF, 0xC0, 0, 17, 8] + big(UInt32(height)).suffix(2)
            + big(UInt32(width)).suffix(2) + [3, 0, 0, 0, 0, 0, 0, 0, 0, 0] + [0xFF, 0xDA, 0, 2, 1, 0xFF, 0xD9]
    }

    private static func chunk(_ name: String, _ contents: [UInt8]) -> [UInt8] {
        big(UInt32(contents.count)) + Array(name.utf8) + contents + [0, 0, 0, 0]
    }

    private static func big(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
