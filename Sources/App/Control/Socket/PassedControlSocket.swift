import Glibc
import SystemCalls

/// A control socket that the service manager has opened: the rules for Waft's own hold for it too.
struct PassedControlSocket {
    /// Where clients find it; nil if it has no path.
    let path: String?
    /// Why it must not be used; nil if it may.
    let fault: String?

    /// - Parameter descriptor: of a listening Unix socket.
    init(_ descriptor: Int32, for socket: ControlSocket) {
        path = Self.path(of: descriptor)
        fault =
            path != socket.path
            ? "commands look for it at \(socket.path)"
            : Self.fault(socket.path, S_IFSOCK, allowed: 0o600)
                ?? Self.fault(SmallFile.folder(of: socket.path), S_IFDIR, allowed: 0o700)
    }

    private static func fault(_ path: String, _ kind: mode_t, allowed: mode_t) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == kind else { return "\(path) is something else" }
        guard status.st_uid == geteuid() else { return "\(path) belongs to another user" }
        let mode = status.st_mode & 0o777
        return mode & ~allowed == 0
            ? nil : "\(path) has the mode \(String(mode, radix: 8)), not \(String(allowed, radix: 8))"
    }

    private static func path(of descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let outcome = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard outcome == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let bytes = withUnsafeBytes(of: &address.sun_path) { Array($0.prefix { $0 != 0 }) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
