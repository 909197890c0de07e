import Digests

extension SafeName {
    /// The name itself if it is safe; otherwise a safe name that shows where it differs.
    ///
    /// For dialects whose senders cannot be told to rename one file. Control characters, direction-changing characters
    /// and slashes become `%` with the two hexadecimal digits of each byte. A name of more than `maximumBytes` loses the end
    /// of its stem, in place of which a tilde and eight hexadecimal digits of the name's digest stand.
    /// - Parameter text: not empty.
    package init(fitting text: String) {
        if let name = try? SafeName(text) {
            self = name
            return
        }
        var fit = ""
        for scalar in text.unicodeScalars {
            let isUnfit = scalar == "/" || !Self.isPrintable(scalar) || text == "." || text == ".."
            if isUnfit {
                for byte in String(scalar).utf8 { fit += "%" + Self.hexadecimal(byte) }
            } else {
                fit.unicodeScalars.append(scalar)
            }
        }
        let whole = SafeName(trusted: fit)
        guard fit.utf8.count > Self.maximumBytes else {
            self = whole
            return
        }
        let (stem, suffix) = whole.split
        let tail = "~" + Self.mark(of: text) + suffix
        self.init(trusted: Self.head(of: stem, bytes: Self.maximumBytes - tail.utf8.count) + tail)
    }

    /// The beginning of a text, cut between two characters.
    private static func head(of text: Substring, bytes: Int) -> String {
        var head = ""
        var count = 0
        for character in text {
            count += character.utf8.count
            guard count <= bytes else { break }
            head.append(character)
        }
        return head
    }

    private static func mark(of text: String) -> String {
        Digest.of(.xxh3_128, text.utf8).withUnsafeBytes { bytes in
            bytes.prefix(4).map(hexadecimal).joined()
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.utf8.count < 2 ? "0" + digits : digits
    }
}
