import Foundation
import Glibc
import TestSupport

/// A socket that accepts one connection and never says anything.
final class SilentSocket: Sendable {
    private let listener: Int32
    private let accepted = Recorder<Int32>()

    init(_ path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let isListening = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(listener, 1) == 0
            }
        }
        guard isListening else { throw POSIXError(.EIO) }
        self.listener = listener
        Thread.detachNewThread { [accepted] in
            let connection = accept(listener, nil, nil)
            if connection >= 0 { accepted.record(connection) }
        }
    }

    /// Returns when a client has connected.
    func connected() async { _ = try? await accepted.first() }

    deinit {
        for connection in accepted.all { close(connection) }
        close(listener)
    }
}
