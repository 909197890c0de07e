internal import CQRencode

/// A QR code: a square of dark and light modules, which cameras read as a text.
package struct QRCode: Sendable {
    /// Modules of a side, without the light margin around the code.
    package let width: Int
    private let dark: [Bool]

    /// - Parameter text: at most some hundred bytes, so that cameras can read the code from a screen.
    /// - Returns: nil for an empty text, or one that is too long.
    package init?(_ text: String) {
        guard text.utf8.count <= 500, !text.utf8.contains(0),
            let code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1)
        else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        self.width = width
        // The lowest bit says whether a module is dark.
        dark = (0..<width * width).map { code.pointee.data[$0] & 1 == 1 }
    }

    /// Whether a module is dark. Those outside the code are light.
    package func isDark(_ x: Int, _ y: Int) -> Bool {
        (0..<width).contains(x) && (0..<width).contains(y) && dark[y * width + x]
    }

    /// The code for a terminal with light letters on a dark ground, two modules above each other in a letter.
    /// - Parameter rows: lines that it should have at most. The margin is four modules wide, or two if it would not fit else.
    package func lines(rows: Int = 21) -> [String] {
        let margin = (width + 9) / 2 <= rows ? 4 : 2
        return stride(from: -margin, to: width + margin, by: 2).map { y in
            String(
                (-margin..<width + margin).map { x -> Character in
                    // Below the last line there is nothing.
                    let hasLower = y + 1 < width + margin
                    return switch (isDark(x, y), isDark(x, y + 1) || !hasLower) {
                    case (false, false): "█"
                    case (false, true): "▀"
                    case (true, false): "▄"
                    case (true, true): " "
                    }
                })
        }
    }
}
