import Discovery
import Foundation
package import Logging
import SecureTransport

extension PeerNetwork {
    /// The network of this user: identity from the home, discovery as set.
    /// - Throws: an error with one readable line.
    package static func make(home: Home, settings: Settings, logger: Logger) throws -> PeerNetwork {
        try home.makeFolders()
        return make(
            home: home, settings: settings, identity: try Identity.load(orMakeIn: home.state),
            directory: settings.discovery ? try Directories.automatic(denied: settings.denied, logger: logger) : nil,
            logger: logger)
    }

    /// The same with the parts of a receiver: one process has one responder.
    static func make(
        home: Home, settings: Settings, identity: Identity, directory: (any ServiceDirectory)?, logger: Logger
    ) -> PeerNetwork {
        PeerNetwork(
            directory: directory,
            identity: identity,
            contacts: home.contactBook(logger),
            airdrop: settings.airdrop.isEnabled ? AirDropSide(settings) : nil,
            sentLog: home.sentLog,
            logger: logger
        )
    }
}

/// The name under which a receiver is published: random, new at each start (security rule 14).
enum RandomInstance {
    static func name() -> String {
        let letters = Array("abcdefghjkmnpqrstvwxyz23456789")
        return String((0..<12).map { _ in letters[Int.random(in: 0..<letters.count)] })
    }
}

/// The kind of this machine, for the card.
enum DeviceKind {
    static let own: String = {
        if FileManager.default.fileExists(atPath: "/.dockerenv")
            || FileManager.default.fileExists(atPath: "/run/.containerenv")
        {
            return "container"
        }
        // SMBIOS chassis types (DMTF DSP0134, 7.4.1).
        let text = try? String(contentsOfFile: "/sys/class/dmi/id/chassis_type", encoding: .utf8)
        switch text.flatMap({ Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }) {
        case 8, 9, 10, 14, 30, 31, 32: return "laptop"
        case 17, 23, 28, 29: return "server"
        case 3, 4, 5, 6, 7, 13, 15, 16, 24, 35, 36: return "desktop"
        default: return "computer"
        }
    }()
}
