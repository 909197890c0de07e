import Foundation
import Sharing

/// A device's description of itself: in announcements, registrations and answers to them, and with each offer.
///
/// Nothing in it is proved.
package struct LocalSendDevice: Hashable, Sendable {
    package enum Scheme: String, Codable, Sendable {
        case http
        case https
    }

    /// Its name, as `PeerName.fit` makes it.
    package var alias: String
    package var version = LocalSendDialect.version
    /// Free text. Independent programs want the key, and a string.
    package var deviceModel: String
    /// `mobile`, `desktop`, `web`, `headless` or `server`: a picture only.
    package var deviceType: String
    /// By HTTPS the SHA-256 of the device's certificate in hexadecimal digits; any text by HTTP.
    package var fingerprint: String
    /// Nil in answers.
    package var port: UInt16?
    package var scheme: Scheme?
    /// Whether it is Waft, which also publishes its own service: it is not shown twice.
    package var isWaft = false

    package init(alias: String, deviceModel: String, deviceType: String, fingerprint: String) {
        (self.alias, self.deviceModel, self.deviceType) = (alias, deviceModel, deviceType)
        self.fingerprint = fingerprint
    }

    /// Reads a message.
    /// - Returns: nil for anything but a JSON object with an alias, and for one of more than `deviceBytes`.
    package init?(message: some Collection<UInt8>) {
        guard message.count <= LocalSendLimits.deviceBytes,
            let device = try? JSONDecoder().decode(LocalSendDevice.self, from: Data(message))
        else { return nil }
        self = device
    }

    /// - Parameter isAnnouncement: whether it asks others to register.
    package func message(isAnnouncement: Bool = false) -> [UInt8] {
        var device = Wire(self)
        if isAnnouncement { device.announce = true }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(device) else { preconditionFailure("texts and numbers can be encoded") }
        return Array(data)
    }
}

extension LocalSendDevice: Codable {
    package init(from decoder: any Decoder) throws {
        let wire = try Wire(from: decoder)
        self.init(
            alias: PeerName.fit(wire.alias), deviceModel: PeerName.fit(wire.deviceModel ?? "", fallback: "unknown"),
            deviceType: PeerName.fit(wire.deviceType ?? "", fallback: "desktop"),
            fingerprint: String((wire.fingerprint ?? "").prefix(LocalSendLimits.identifierBytes)))
        version = String((wire.version ?? "1.0").prefix(8))
        port = wire.port.flatMap { UInt16(exactly: $0) }
        scheme = wire.scheme.flatMap { Scheme(rawValue: $0) }
        isWaft = wire.waft ?? false
    }

    package func encode(to encoder: any Encoder) throws { try Wire(self).encode(to: encoder) }

    /// The keys on the wire. `download` is never null: the app since 1.18 refuses that.
    private struct Wire: Codable {
        var alias: String
        var version: String?
        var deviceModel: String?
        var deviceType: String?
        var fingerprint: String?
        var port: Int?
        var scheme: String?
        var download: Bool?
        var announce: Bool?
        var waft: Bool?

        enum CodingKeys: String, CodingKey {
            case alias, version, deviceModel, deviceType, fingerprint, port
            case scheme = "protocol"
            case download, announce, waft
        }

        init(_ device: LocalSendDevice) {
            (alias, version, deviceModel) = (device.alias, device.version, device.deviceModel)
            (deviceType, fingerprint) = (device.deviceType, device.fingerprint)
            (port, scheme) = (device.port.map(Int.init), device.scheme?.rawValue)
            (download, waft) = (false, device.isWaft ? true : nil)
        }

        init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            alias = try keys.decode(String.self, forKey: .alias)
            // A foreign value of another kind is as good as none.
            version = try? keys.decode(String.self, forKey: .version)
            deviceModel = try? keys.decode(String.self, forKey: .deviceModel)
            deviceType = try? keys.decode(String.self, forKey: .deviceType)
            fingerprint = try? keys.decode(String.self, forKey: .fingerprint)
            port = try? keys.decode(Int.self, forKey: .port)
            scheme = try? keys.decode(String.self, forKey: .scheme)
            waft = try? keys.decode(Bool.self, forKey: .waft)
        }
    }
}
