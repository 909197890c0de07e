import CLinuxShims
import Glibc
import HookSandbox
import NIOCore
import NIOPosix

/// The process at the other end of a control connection, as it was when it connected.
final class Caller: Sendable {
    let user: UInt32
    /// 0 in a namespace that this process cannot look into.
    private let process: Int32
    /// Owned: that very process, also when its number has been given to another; negative where it has ended.
    private let descriptor: CInt

    /// Asks the kernel. To be called as soon as the connection is there: where the kernel is older than Linux 6.5, the
    /// process is found by its number.
    ///
    /// - Throws: what the kernel said.
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

    /// Why it may not command this receiver; nil where it may. Reads /proc.
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
        // A process that has ended can be read from.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) == 0
    }
}

/// `struct ucred` of Linux, which the Glibc module does not show: three 32-bit numbers.
private struct PeerCredentials {
    var pid: Int32
    var uid: UInt32
    var gid: UInt32
}
