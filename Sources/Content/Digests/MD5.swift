import COpenSSL

/// MD5, for the names that other programs make with it. It protects nothing.
package enum MD5 {
    /// - Returns: 32 lower-case hexadecimal digits; nil if the system's libcrypto offers no MD5.
    package static func hexadecimal(_ text: String) -> String? {
        var (digest, count) = ([UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE)), 0)
        let bytes = Array(text.utf8)
        guard EVP_Q_digest(nil, "MD5", nil, bytes, bytes.count, &digest, &count) == 1, count == 16 else { return nil }
        return digest.prefix(count).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
