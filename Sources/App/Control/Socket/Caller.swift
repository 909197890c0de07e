import CLinuxShims
import Glibc
import HookSandbox
import NIOCore
import NIOPosix

/// The process that opened a control connection.
final class Caller: Sendable {
    let user: UInt32
    /// Process id; 0 if it runs in a PID namespace that this process cannot see.
    private let process: Int32
    /// Owned pidfd: it still names this process after its id is reused. Negative if the kernel gave none.
    private let descriptor: CInt

    /// Asks the kernel. Call this as soon as the connection is there: before Linux 6.5 the pidfd is opened by process
    /// id, which may be reused.
    ///
    /// - Throws: `ControlError` if the channel is no socket; `IOError` if the kernel does not give the credentials.
    static func of(_ channel: any Channel) async throws -> Caller {
        guard let socket = channel as? any SocketOptionProvider else { throw ControlError.broken("no socket") }
        let level = SocketOptionLevel(SOL_SOCKET)
        let credentials: PeerCredentials =
            try await socket.unsafeGetSocketOption(level: level, name: SocketOptionName(SO_PEERCRED)).get()
        let raw: CInt
        do {
            raw = try await socket.unsafeGetSocketOption(
                level: level, name: SocketOptionName(CLinuxShims_SO_PEERPIDFD)
            ).get()
        } catch let error as IOError where error.errnoCode == ENOPROTOOPT && credentials.pid > 0 {
            raw = CLinuxShims_pidfd_open(credentials.pid)
        } catch {
            raw = -1
        }
        return Caller(credentials, owning: raw)
    }

    private init(_ credentials: PeerCredentials, owning raw: CInt) {
        (user, process) = (credentials.uid, credentials.pid)
        descriptor = raw
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Why the process may not command this receiver; nil if it may. Reads /proc.
    var refusal: String? {
        switch ProcessDescent.of(process, receiver: getpid(), isThere: { isThere }) {
        case .user: return nil
        case .handler: return "a program that a handler has started may not command the receiver"
        case .receiver: return "a program that a receiver has started may not command the receiver"
        case .unknown(let why): return "the receiver cannot tell which program asks: \(why)"
        }
    }

    private var isThere: Bool {
        guard descriptor >= 0 else { return false }
        // The pidfd becomes readable when the process ends.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) == 0
    }
}

/// Linux's `struct ucred`, which the Glibc module does not export: three 32-bit numbers.
private struct PeerCredentials {
    var pid: Int32
    var uid: UInt32
    var gid: UInt32
}
