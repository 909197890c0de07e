import Glibc
import Secrets
import SystemCalls

extension VaultIdentities {
    /// The name of a credential of the service manager with private keys.
    private static let credentialName = "waft.protection"

    /// The private keys that the service manager passes.
    ///
    /// - Parameter folder: that of the credentials (`CREDENTIALS_DIRECTORY`).
    /// - Returns: nil without such a credential.
    /// - Throws: `VaultError` `damaged`, `storage`.
    package static func credential(in folder: String) throws(VaultError) -> VaultIdentities? {
        let path = "\(folder)/\(credentialName)"
        var bytes: [UInt8]
        do {
            bytes = try SmallFile.read(path, limit: textBytes)
        } catch {
            if error == .missing { return nil }
            throw VaultError(path, limit: textBytes, error)
        }
        let text = SecretBytes(bytes)
        bytes.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
        }
        return try VaultIdentities(parsing: text)
    }
}
