import Glibc
import SystemCalls

/// Listening sockets that the service manager has opened for this process (sd_listen_fds(3)).
///
/// They stay open as long as this value exists: connections wait in the kernel until the receiver accepts them.
package final class PassedSockets: Sendable {
    package enum Kind: Sendable {
        /// A stream over IPv4 or IPv6.
        case tcp
        /// A stream between processes of this machine.
        case local
    }

    /// The most sockets that are taken.
    package static let maximumCount = 16
    /// The first of the passed descriptors.
    package static let firstDescriptor: Int32 = 3

    /// Why sockets were not taken; one line each.
    package let warnings: [String]
    private let descriptors: [String: OpenFile]

    private final class OpenFile: Sendable {
        let descriptor: FileDescriptor

        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    /// No sockets.
    package init() { (warnings, descriptors) = ([], [:]) }

    /// Takes the passed sockets. Those that are not expected are closed, with a warning. Call it once, before this
    /// process opens files of its own and starts others.
    ///
    /// - Parameters:
    ///   - environment: of the process, with `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`.
    ///   - expected: the names of the sockets that the process can use.
    ///   - process: the id of this process; sockets for another one are not touched.
    ///   - first: the first descriptor.
    package init(
        environment: [String: String], expected: [String: Kind], process: Int32 = getpid(),
        first: Int32 = PassedSockets.firstDescriptor
    ) {
        guard environment["LISTEN_PID"] == String(process), let text = environment["LISTEN_FDS"] else {
            (warnings, descriptors) = ([], [:])
            return
        }
        guard let count = Int32(text), count > 0 else {
            (warnings, descriptors) = (["LISTEN_FDS is no number of sockets: \(text)"], [:])
            return
        }
        var (warnings, descriptors) = ([String](), [String: OpenFile]())
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        for place in 0..<min(count, Int32(Self.maximumCount)) {
            let raw = first + place
            // Not a descriptor of this process: there is nothing to close.
            guard fcntl(raw, F_SETFD, FD_CLOEXEC) == 0 else {
                warnings.append("descriptor \(raw) was not passed, though LISTEN_FDS is \(text)")
                continue
            }
            let socket = FileDescriptor(owning: raw)
            // Without names all sockets are called unknown, as sd_listen_fds_with_names(3) says.
            let name = names.count == Int(count) ? String(names[Int(place)]) : "unknown"
            if let fault = Self.fault(of: socket.raw, named: name, expected, isTaken: descriptors[name] != nil) {
                warnings.append("the passed socket \(name) (descriptor \(raw)) is closed: \(fault)")
            } else {
                descriptors[name] = OpenFile(socket)
            }
        }
        if count > Self.maximumCount {
            warnings.append("\(count) sockets were passed, and at most \(Self.maximumCount) are taken")
        }
        (self.warnings, self.descriptors) = (warnings, descriptors)
    }

    /// An open listening socket, which stays this value's; nil if there is none of this name.
    package subscript(name: String) -> Int32? { descriptors[name]?.descriptor.raw }

    private static func fault(
        of socket: Int32, named name: String, _ expected: [String: Kind], isTaken: Bool
    ) -> String? {
        guard let kind = expected[name] else {
            return "its name is none of \(expected.keys.sorted().joined(separator: ", "))"
        }
        if isTaken { return "another one has its name" }
        guard let family = option(SO_DOMAIN, of: socket), let type = option(SO_TYPE, of: socket) else {
            return "it is no socket"
        }
        let families = kind == .tcp ? [AF_INET, AF_INET6] : [AF_UNIX]
        guard families.contains(family) else {
            return kind == .tcp ? "it is not of the Internet" : "it is not one of this machine (AF_UNIX)"
        }
        let isStream = type == Int32(SOCK_STREAM.rawValue)
        guard isStream, kind == .local || option(SO_PROTOCOL, of: socket) == Int32(IPPROTO_TCP) else {
            return "it is no stream"
        }
        return option(SO_ACCEPTCONN, of: socket) == 1 ? nil : "it does not listen"
    }

    private static func option(_ name: Int32, of socket: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
}
