package import SecureTransport
import SystemCalls

/// The Apple identity of the user, which the user has extracted: read where it lies, never copied and never logged.
package struct AppleIdentity: Sendable {
    package let identity: Identity
    /// Apple's record of the addresses that belong to it.
    package let record: [UInt8]

    private static let recordBytes = 64 << 10

    /// - Parameter folder: with `certificate.pem`, `key.pem` and `validation_record.cms`. Only the key must be closed to others.
    /// - Throws: `AppleIdentityFault`.
    package init(_ folder: String) throws(AppleIdentityFault) {
        do throws(IdentityError) {
            identity = try Identity.load(certificate: folder + "/certificate.pem", key: folder + "/key.pem")
        } catch {
            throw AppleIdentityFault(description: error.description)
        }
        let path = folder + "/validation_record.cms"
        do throws(SmallFile.AccessError) {
            record = try SmallFile.read(path, limit: Self.recordBytes)
        } catch {
            throw AppleIdentityFault(description: "cannot use \(path): \(Self.reason(error))")
        }
        guard !record.isEmpty else { throw AppleIdentityFault(description: "cannot use \(path): it is empty") }
    }

    private static func reason(_ error: SmallFile.AccessError) -> String {
        switch error {
        case .missing: "No such file or directory"
        case .link: "it is a symbolic link"
        case .notRegular: "it is not a regular file"
        case .tooLarge: "it is larger than \(recordBytes) bytes"
        case .system(let error): "\(error)"
        }
    }
}

/// Why an Apple identity is not used.
package struct AppleIdentityFault: Error, Hashable, CustomStringConvertible {
    /// One line, with the path of the file, and without its contents.
    package let description: String
}
