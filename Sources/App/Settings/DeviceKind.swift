import Foundation

/// The kind of this machine, for the card.
package enum DeviceKind {
    package static let own: String = {
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
