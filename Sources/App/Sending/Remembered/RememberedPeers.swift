import Contacts
import Foundation
package import Settings
import Sharing
import SystemCalls

/// The remembered peers in their file: JSON, version 1, replaced whole under a lock. All calls may block on the disk.
package struct RememberedPeers: Sendable {
    /// Peers in the file: each is asked in every search.
    package static let maximumCount = 256
    /// Bytes of the file.
    private static let maximumBytes = 512 << 10

    /// Absolute.
    package let path: String

    package init(path: String) {
        self.path = path
    }

    private struct Document: Codable {
        struct Entry: Codable {
            var name: String
            var host: String
            var port: UInt16
        }

        var version = 1
        var peers: [Entry]
    }

    /// In the order in which they were added; empty without a file.
    ///
    /// - Throws: `RememberedPeerError` `damaged`, `storage`.
    package func all() throws(RememberedPeerError) -> [RememberedPeer] {
        let bytes: [UInt8]
        do throws(SmallFile.AccessError) {
            bytes = try SmallFile.read(path, limit: Self.maximumBytes)
        } catch {
            switch error {
            case .missing: return []
            case .system(let reason): throw RememberedPeerError(.storage, "\(path) could not be read: \(reason)")
            case .link, .notRegular, .tooLarge: throw damaged("it is no regular file, or too large")
            }
        }
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)), document.version == 1 else {
            throw damaged("it is not a JSON document of version 1")
        }
        guard document.peers.count <= Self.maximumCount else { throw damaged("it has too many peers") }
        var names: Set<ContactName> = []
        return try document.peers.map { entry throws(RememberedPeerError) in
            let peer: RememberedPeer
            do throws(RememberedPeerError) {
                peer = try RememberedPeer(name: entry.name, host: entry.host, port: entry.port)
            } catch {
                throw damaged(error.description)
            }
            guard names.insert(peer.name).inserted else { throw damaged("it lists \(peer.name) twice") }
            return peer
        }
    }

    private func damaged(_ reason: String) -> RememberedPeerError {
        RememberedPeerError(
            .damaged, "\(path) cannot be used and was left as it is: \(reason); correct it, or remove it to begin again"
        )
    }

    /// - Returns: nil if no remembered peer has this name.
    /// - Throws: as `all`.
    package func peer(named name: String) throws(RememberedPeerError) -> RememberedPeer? {
        let peers = try all()
        return Self.place(of: name, in: peers).map { peers[$0] }
    }

    /// Adds a peer. One of the same name is replaced.
    ///
    /// - Returns: the replaced one; nil without one.
    /// - Throws: `RememberedPeerError` `full`, `damaged`, `storage`.
    @discardableResult
    package func remember(_ peer: RememberedPeer) throws(RememberedPeerError) -> RememberedPeer? {
        try change { peers throws(RememberedPeerError) in
            if let place = peers.firstIndex(where: { $0.name == peer.name }) {
                defer { peers[place] = peer }
                return peers[place]
            }
            guard peers.count < Self.maximumCount else {
                throw RememberedPeerError(
                    .full, "\(Self.maximumCount) peers are remembered, and these are the most; remove one first")
            }
            peers.append(peer)
            return nil
        }
    }

    /// - Returns: the removed peer.
    /// - Throws: `RememberedPeerError` `unknown`, `damaged`, `storage`.
    @discardableResult
    package func forget(_ name: String) throws(RememberedPeerError) -> RememberedPeer {
        try change { peers throws(RememberedPeerError) in
            guard let place = Self.place(of: name, in: peers) else {
                throw RememberedPeerError(.unknown, "no peer is remembered as \"\(ShownText.line(name, limit: 64))\"")
            }
            return peers.remove(at: place)
        }
    }

    /// The place of the peer with a name that a user typed; nil for none.
    private static func place(of name: String, in peers: [RememberedPeer]) -> Int? {
        let wanted = try? ContactName(name)
        return peers.firstIndex { $0.name == wanted }
            ?? (TypedName.isEscaped(name) ? peers.firstIndex { TypedName.means(name, $0.name.text) } : nil)
    }

    private func change<Value>(
        _ body: (inout [RememberedPeer]) throws(RememberedPeerError) -> Value
    ) throws(RememberedPeerError) -> Value {
        do {
            let lock = try FolderLock.taking(SmallFile.folder(of: path))
            var peers = try all()
            let value = try body(&peers)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let document = Document(peers: peers.map { .init(name: $0.name.text, host: $0.host, port: $0.port) })
            let bytes = try encoder.encode(document) + [UInt8(ascii: "\n")]
            try SmallFile.replace(path, with: Array(bytes), mode: 0o600)
            lock.release()
            return value
        } catch let error as RememberedPeerError {
            throw error
        } catch {
            throw RememberedPeerError(.storage, "\(path) could not be written: \(error)")
        }
    }
}

extension Home {
    /// The peers whose addresses this user has given.
    package var rememberedPeers: RememberedPeers { RememberedPeers(path: rememberedPeersPath) }
}
