import Age
import SystemCalls

/// Why protected items cannot be sealed or opened, or their keys not be read or changed.
package struct VaultError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error, from which commands choose an exit code.
    package enum Code: Hashable, Sendable {
        /// The key that could open it is not in memory: `waft unlock` first.
        case locked
        /// This machine has no private key at all: a drop box.
        case noIdentity
        /// All keys are in memory, and none of them opens it: its header was changed, or it belongs to other keys.
        case foreign
        /// There are no keys: `waft protection set-up` first.
        case notSetUp
        /// There are keys already.
        case alreadySetUp
        /// The file of the public keys names others than those that belong to the private keys.
        case swapped
        /// Another passphrase was used.
        case wrongPassphrase
        /// A value of the user cannot be used: a recipient, a passphrase.
        case unfit
        /// A file is there but invalid. It is left unchanged.
        case damaged
        /// The disk could not be read or written, or libcrypto failed.
        case storage
    }

    package let code: Code
    /// One line, lower case: the action that failed, and why.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static let locked = VaultError(.locked, "it is sealed, and Waft is locked")
    static let noIdentity = VaultError(
        .noIdentity, "it is sealed to keys that are not on this machine, which is a drop box")
    static let foreign = VaultError(
        .foreign, "no key of Waft opens it: its header was changed, or it is sealed to a key that Waft does not have")
    static let notSetUp = VaultError(.notSetUp, "data protection is not set up")

    static func unusableKeys(_ reason: String) -> VaultError {
        VaultError(.damaged, "the private keys cannot be used: \(reason)")
    }

    static func damaged(_ path: String, _ reason: String) -> VaultError {
        VaultError(.damaged, "\(path) cannot be used and was left as it is: \(reason)")
    }

    static func unreadable(_ path: String, _ error: SystemError) -> VaultError {
        VaultError(.storage, "\(path) could not be read: \(error)")
    }

    static func unwritable(_ path: String, _ error: SystemError) -> VaultError {
        VaultError(.storage, "\(path) could not be written: \(error)")
    }

    init(_ path: String, limit: Int, _ fault: SmallFile.AccessError) {
        self =
            switch fault {
            case .missing: .unreadable(path, SystemError(2))
            case .link: .damaged(path, "it is a link")
            case .notRegular: .damaged(path, "it is not a regular file")
            case .tooLarge: .damaged(path, "it is larger than \(limit >> 10) KiB")
            case .system(let error): .unreadable(path, error)
            }
    }

    /// - Parameter path: the file, or another name for it.
    init(_ path: String, _ fault: AgeError) {
        self =
            switch fault {
            case .noMatch: VaultError(.wrongPassphrase, "the passphrase is wrong")
            case .noCryptography(let product): VaultError(.storage, "libcrypto did not make \(product)")
            case .malformed, .damaged, .truncated, .trailing, .unsupported: .damaged(path, fault.description)
            }
    }
}
