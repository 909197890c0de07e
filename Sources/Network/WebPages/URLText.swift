/// Names in addresses and headers.
package enum URLText {
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    /// A name as one part of a path, and as a value of RFC 8187.
    package static func encoded(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            if plain.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.utf8.count < 2 ? "0" : "") + digits
            }
        }
        return text
    }

    /// A `Content-Disposition` that saves a download under its name (RFC 6266). Browsers take `filename*`; curl knows only
    /// `filename`, and keeps its bytes. Characters that have a meaning there are replaced.
    package static func attachment(_ name: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            let isControl = scalar.properties.generalCategory == .control
            plain.append(isControl || "\"\\%/".unicodeScalars.contains(scalar) ? "_" : scalar)
        }
        return "attachment; filename=\"\(String(plain))\"; filename*=UTF-8''\(encoded(name))"
    }
}
