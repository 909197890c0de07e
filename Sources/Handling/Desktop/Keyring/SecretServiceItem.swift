package import DBusClient
import Foundation
package import Secrets

/// The one secret that Waft keeps in the user's keyring: a text in the Secret Service of the session bus.
///
/// Each call is a conversation of its own; it ends at once when the task is cancelled.
package struct SecretServiceItem: Sendable {
    /// Maximum number of bytes of the secret.
    package static let maximumBytes = 64 << 10
    private static let label = "Waft data protection"
    private static let attributes = ["xdg:schema": "org.waft.Protection"]

    private let bus: BusAddress?
    private let timeouts: KeyringTimeouts

    /// - Parameter bus: the session bus; nil if there is none.
    package init(
        bus: BusAddress? = .session(ProcessInfo.processInfo.environment), timeouts: KeyringTimeouts = KeyringTimeouts()
    ) {
        self.bus = bus
        self.timeouts = timeouts
    }

    /// Stores the secret in the default collection, in place of the one that is there.
    ///
    /// - Throws: `KeyringError`; `.locked` only for `.silent`.
    package func store(_ secret: SecretBytes, _ manner: KeyringManner) async throws(KeyringError) {
        guard secret.count <= Self.maximumBytes else { throw .tooLarge }
        let service = try await SecretService.connect(to: bus, manner, timeouts)
        let collection = try await service.defaultCollection()
        try await service.unlock(collection)
        try await service.create(in: collection, label: Self.label, Self.attributes, secret)
    }

    /// Finds the secret.
    ///
    /// - Throws: `KeyringError`; `.missing` without one, `.locked` only for `.silent`.
    package func lookUp(_ manner: KeyringManner) async throws(KeyringError) -> SecretBytes {
        let service = try await SecretService.connect(to: bus, manner, timeouts)
        let items = try await service.items(Self.attributes)
        guard let item = items.open.first ?? items.locked.first else { throw .missing }
        if items.open.isEmpty { try await service.unlock(item) }
        let secret = try await service.secret(of: item)
        guard secret.count <= Self.maximumBytes else { throw .tooLarge }
        return secret
    }

    /// Deletes the secret, and each copy of it.
    ///
    /// - Throws: `KeyringError`; `.missing` without one, `.locked` only for `.silent`.
    package func delete(_ manner: KeyringManner) async throws(KeyringError) {
        let service = try await SecretService.connect(to: bus, manner, timeouts)
        let items = try await service.items(Self.attributes)
        guard !items.open.isEmpty || !items.locked.isEmpty else { throw .missing }
        for item in items.locked { try await service.unlock(item) }
        for item in items.open + items.locked { try await service.delete(item) }
    }
}
