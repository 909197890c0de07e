import LocalSendDialect
import SecureTransport
import Settings
import Sharing
import Synchronization

/// This side as a device of LocalSend: its certificate, which others remember it by, and its description.
final class LocalSendSide: Sendable {
    private static let fileName = "localsend.pem"
    /// The kind of a device that is Waft.
    static let waftDevice = "waft"

    private let settings: LiveSettings
    private let folder: String?
    private let made = Mutex<Identity?>(nil)

    /// - Parameter folder: holds the certificate; nil for one that lives in memory only.
    init(_ settings: LiveSettings, folder: String?) {
        (self.settings, self.folder) = (settings, folder)
    }

    /// Reads the certificate at the first call, or makes it, which takes a while.
    /// - Throws: `IdentityError`.
    func identity() throws -> Identity {
        try made.withLock { made in
            if let made { return made }
            let identity =
                try folder.map { try Identity.load(orMakeIn: $0, named: Self.fileName, kind: .rsa2048) }
                ?? Identity.make(kind: .rsa2048)
            made = identity
            return identity
        }
    }

    func fingerprint() throws -> String { try identity().certificateFingerprint.text }

    /// - Parameter port: of the listener; nil in answers.
    func device(port: UInt16? = nil) throws -> LocalSendDevice {
        let settings = settings.current
        var device = LocalSendDevice(
            alias: settings.name, deviceModel: settings.localsend.deviceModel, deviceType: "headless",
            fingerprint: try fingerprint())
        (device.port, device.scheme, device.isWaft) = (port, .https, true)
        return device
    }
}
