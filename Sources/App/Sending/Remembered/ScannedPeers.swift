import Foundation
import SecureTransport
package import Settings
import Sharing
import SystemCalls

/// The addresses at which a scan has found peers, for some minutes: a user can send to a peer that a scan has just shown.
/// Peers are asked there anew: the file says nothing about them. All calls may block on the disk.
package struct ScannedPeers: Sendable {
    /// How long an address is asked after the last scan that found a peer there, in milliseconds.
    private static let lifetime: Int64 = 600_000
    /// Addresses in the file: each is asked in every search.
    static let maximumCount = 32
    /// Bytes of the file.
    private static let maximumBytes = 16 << 10

    private let path: String

    /// - Parameter path: absolute.
    package init(path: String) { self.path = path }

    private struct Entry: Codable {
        var host: String
        var port: UInt16
        /// Milliseconds since 1970.
        var seen: Int64
    }

    /// The newest first; empty if nothing can be read.
    func recent(now: WallTime = .now) -> [DialAddress] {
        entries(now).map { DialAddress(host: $0.host, port: Int($0.port)) }
    }

    /// Notes the addresses of a peer that has answered a scan. Without a disk for it, nothing is noted.
    func note(_ addresses: [DialAddress], now: WallTime = .now) {
        guard let lock = try? FolderLock.taking(SmallFile.folder(of: path)) else { return }
        let new = addresses.map { Entry(host: $0.host, port: UInt16(clamping: $0.port), seen: now.milliseconds) }
        let old = entries(now).filter { entry in !new.contains { $0.host == entry.host && $0.port == entry.port } }
        guard let bytes = try? JSONEncoder().encode(Array((new + old).prefix(Self.maximumCount))) else { return }
        try? SmallFile.replace(path, with: Array(bytes), mode: 0o600)
        lock.release()
    }

    private func entries(_ now: WallTime) -> [Entry] {
        guard let bytes = try? SmallFile.read(path, limit: Self.maximumBytes),
            let entries = try? JSONDecoder().decode([Entry].self, from: Data(bytes))
        else { return [] }
        // A clock that was set back makes nothing last longer.
        let fresh = entries.filter {
            let (age, isFar) = now.milliseconds.subtractingReportingOverflow($0.seen)
            return !isFar && (0..<Self.lifetime).contains(age)
        }
        return Array(fresh.prefix(Self.maximumCount))
    }
}

extension Home {
    /// The peers that this user's scans have found.
    package var scannedPeers: ScannedPeers { ScannedPeers(path: run + "/scanned-peers.json") }
}
