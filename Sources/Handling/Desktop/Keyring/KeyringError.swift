package import DBusClient
package import Secrets

/// Why a secret could not be stored, found or deleted in the keyring.
package enum KeyringError: Error, Hashable, CustomStringConvertible {
    /// There is no session bus, or no program on it that keeps secrets.
    case noService
    /// The keyring has no place for new secrets.
    case noCollection
    /// There is no such secret.
    case missing
    /// The secret is there, but its collection is locked, and no question was allowed.
    case locked
    /// The person refused to open the keyring, or its program cannot ask.
    case dismissed
    /// The person did not answer in time.
    case unanswered
    /// The secret has more than `SecretServiceItem.maximumBytes`.
    case tooLarge
    /// libcrypto does not do its part.
    case noCryptography(SecretsError)
    /// The service does not do its part.
    case failed(BusError)

    /// One line, not escaped.
    package var description: String {
        switch self {
        case .noService: "no keyring is running: there is no Secret Service on the session bus"
        case .noCollection: "the keyring has no default collection: create one in the keyring's own program"
        case .missing: "the keyring has no secret of Waft"
        case .locked: "the keyring is locked"
        case .dismissed: "the keyring was not opened"
        case .unanswered: "the keyring's question was not answered in time"
        case .tooLarge: "the secret is too large for the keyring"
        case .noCryptography(let error): "the keyring cannot be used: \(error)"
        case .failed(let error): "the keyring does not work: \(error)"
        }
    }

    static func converting<Value>(_ body: () throws(SecretsError) -> Value) throws(KeyringError) -> Value {
        do throws(SecretsError) {
            return try body()
        } catch {
            throw .noCryptography(error)
        }
    }

    /// The error that a failed call means.
    init(_ error: BusError) {
        switch error.refusalName {
        case "org.freedesktop.Secret.Error.IsLocked": self = .locked
        case "org.freedesktop.Secret.Error.NoSuchObject": self = .missing
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.Spawn.ExecFailed", "org.freedesktop.DBus.Error.Spawn.ServiceNotFound":
            self = .noService
        default: self = .failed(error)
        }
    }
}
