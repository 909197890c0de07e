import Glibc

/// A service manager's end of `NOTIFY_SOCKET`: a real datagram socket whose notices it records.
package final class NoticeListener: Sendable {
    /// Each notice with its fields, in the order of arrival.
    package let notices = Recorder<[String]>()
    /// The value of `NOTIFY_SOCKET`.
    package let address: String
    private let socket: Int32

    /// - Parameter address: a path that is free, or `@` and a name.
    package init(_ address: String) {
        self.address = address
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
        var own = sockaddr_un()
        own.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = address.hasPrefix("@")
        let name = (isAbstract ? [0] + Array(address.utf8.dropFirst()) : Array(address.utf8) + [0])
        withUnsafeMutableBytes(of: &own.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let isBound = withUnsafePointer(to: &own) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) == 0 }
        }
        precondition(isBound, "\(address) cannot be bound: \(String(cString: strerror(errno)))")
        let thread = Reader(socket: socket, notices: notices)
        var number = pthread_t()
        let failure = pthread_create(
            &number, nil,
            { reader in
                guard let reader else { return nil }
                Unmanaged<Reader>.fromOpaque(reader).takeRetainedValue().read()
                return nil
            }, Unmanaged.passRetained(thread).toOpaque())
        precondition(failure == 0, "no thread could be started")
        pthread_detach(number)
    }

    deinit {
        // Ends the reader, which closes it.
        shutdown(socket, Int32(SHUT_RD))
        if !address.hasPrefix("@") { unlink(address) }
    }

    /// Waits for a notice with this field.
    @discardableResult
    package func first(_ field: String) async throws -> [String] {
        try await notices.first { $0.contains(field) }
    }

    /// The number of notices with this field so far.
    package func count(_ field: String) -> Int { notices.all.count { $0.contains(field) } }

    private final class Reader: Sendable {
        let socket: Int32
        let notices: Recorder<[String]>

        init(socket: Int32, notices: Recorder<[String]>) {
            (self.socket, self.notices) = (socket, notices)
        }

        func read() {
            var bytes = [UInt8](repeating: 0, count: 8_192)
            while true {
                let count = recv(socket, &bytes, bytes.count, 0)
                // A datagram of no bytes is the end: there is no such notice.
                guard count > 0 else { break }
                let text = String(decoding: bytes[..<count], as: UTF8.self)
                notices.record(text.split(separator: "\n").map(String.init))
            }
            close(socket)
        }
    }
}
