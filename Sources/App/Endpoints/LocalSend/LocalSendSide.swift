import Executors
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
    private let blocking: BlockingExecutor
    private let made = Mutex<Identity?>(nil)

    /// - Parameters:
    ///   - folder: holds the certificate; nil for one that lives in memory only.
    ///   - blocking: makes the certificate.
    init(_ settings: LiveSettings, folder: String?, blocking: BlockingExecutor) {
        (self.settings, self.folder, self.blocking) = (settings, folder, blocking)
    }

    /// Reads the certificate at the first call, or makes it.
    ///
    /// An old RSA key or the disk can take long: tasks that wait here on threads of others would hold up all searches.
    /// - Throws: `IdentityError`.
    func identity() async throws -> Identity {
        try await withTaskExecutorPreference(blocking) { try loadIdentity() }
    }

    /// The same for a thread that may block.
    /// - Throws: `IdentityError`.
    func loadIdentity() throws -> Identity {
        try made.withLock { made in
            if let made { return made }
            // Earlier versions made an RSA key. Others remember the device by its certificate, so the key stays.
            let identity =
                try folder.map { try Identity.load(orMakeIn: $0, named: Self.fileName, kinds: [.p256, .rsa2048]) }
                ?? Identity.make()
            made = identity
            return identity
        }
    }

    func fingerprint() async throws -> String { try await identity().certificateFingerprint.text }

    /// - Parameter port: of the listener; nil in answers.
    func device(port: UInt16? = nil) async throws -> LocalSendDevice {
        let settings = settings.current
        var device = LocalSendDevice(
            alias: settings.name, deviceModel: settings.localsend.deviceModel, deviceType: "headless",
            fingerprint: try await fingerprint())
        (device.port, device.scheme, device.isWaft) = (port, .https, true)
        return device
    }
}
