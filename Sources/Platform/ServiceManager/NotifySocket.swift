import Glibc
package import SystemCalls

/// The datagram socket on which a service manager waits for notices of its services (sd_notify(3)).
package struct NotifySocket: Sendable, Hashable {
    /// The bytes of the address after its family: a path, or a NUL and an abstract name.
    private let name: [UInt8]
    private let isAbstract: Bool

    /// How long a notice waits while the queue of the service manager is full.
    private static let timeout = timeval(tv_sec: 1, tv_usec: 0)

    /// - Parameter text: as `NOTIFY_SOCKET` has it: an absolute path, or `@` and the name of an abstract socket.
    /// - Returns: nil for any other text, and for one that does not fit into an address.
    package init?(_ text: String) {
        var name = Array(text.utf8)
        isAbstract = name.first == UInt8(ascii: "@")
        guard isAbstract || name.first == UInt8(ascii: "/"), name.count > 1, !name.contains(0),
            name.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        if isAbstract { name[0] = 0 }
        self.name = name
    }

    /// Sends one notice.
    ///
    /// - Parameter fields: `KEY=value`; a control character in it becomes a blank, since each line is a field.
    /// - Throws: the error of the kernel; `EAGAIN` if the service manager has not read for a second.
    package func send(_ fields: [String]) throws(SystemError) {
        let socket = FileDescriptor(
            owning: try systemCall { Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0) })
        var timeout = Self.timeout
        let size = socklen_t(MemoryLayout.size(ofValue: timeout))
        try systemCall { setsockopt(socket.raw, SOL_SOCKET, SO_SNDTIMEO, &timeout, size) }
        let notice = Array(fields.map(Self.line).joined(separator: "\n").utf8)
        try withAddress { address, length throws(SystemError) in
            _ = try systemCall { sendto(socket.raw, notice, notice.count, Int32(MSG_NOSIGNAL), address, length) }
        }
    }

    private func withAddress(
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Void
    ) throws(SystemError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // A path ends with a NUL; all bytes of an abstract name count.
        let length = MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1)
        let outcome: Result<Void, SystemError> = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                do throws(SystemError) {
                    return .success(try body(pointer, socklen_t(length)))
                } catch {
                    return .failure(error)
                }
            }
        }
        try outcome.get()
    }

    private static func line(_ field: String) -> String {
        let scalars = field.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}
