/// The texts in a PNG image, such as those of thumbnails.
package enum PNGTexts {
    /// PNG (third edition), 11.3.3.2: chunks `tEXt`, in ISO 8859-1.
    ///
    /// - Parameter bytes: the whole file.
    /// - Returns: the texts by their keys, up to the first chunk that is cut off; the first of equal keys.
    package static func all(in bytes: [UInt8]) -> [String: String] {
        let file = HeaderBytes(bytes)
        guard file.hasText("\u{89}PNG\r\n\u{1A}\n", at: 0) else { return [:] }
        var (offset, texts) = (8, [String: String]())
        while let length = file.big32(offset), length <= UInt32(Int32.max) {
            let (start, end) = (offset + 8, offset + 8 + Int(length))
            guard end + 4 <= bytes.count else { break }
            if file.hasText("tEXt", at: offset + 4) {
                let parts = bytes[start..<end].split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2 { texts[text(parts[0])] = texts[text(parts[0])] ?? text(parts[1]) }
            }
            offset = end + 4
        }
        return texts
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }
}
