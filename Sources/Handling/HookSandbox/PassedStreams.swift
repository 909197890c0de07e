import CLinuxShims
import Glibc

/// The input and the stream of a hook on their way to the launcher, which inherits its standard streams alone.
package enum PassedStreams {
    /// Puts copies of both into a socket, which becomes the standard input of the launcher.
    ///
    /// - Parameters:
    ///   - input: the hook's standard input; stays the caller's.
    ///   - stream: the hook's descriptor ``SandboxPlan/streamDescriptor``; stays the caller's.
    /// - Returns: the socket, close-on-exec and the caller's.
    /// - Throws: `SandboxError`.
    package static func pack(input: Int32, stream: Int32) throws(SandboxError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .notRestricted("no pair of sockets: \(SandboxError.lastCause)")
        }
        defer { close(ends[0]) }
        guard CLinuxShims_send_descriptor(ends[0], input) == 0, CLinuxShims_send_descriptor(ends[0], stream) == 0
        else {
            let cause = SandboxError.lastCause
            close(ends[1])
            throw .notRestricted("its stream could not be passed: \(cause)")
        }
        return ends[1]
    }

    /// Takes both out of the standard input, and puts them where the hook expects them. For the launcher, before it opens
    /// anything else.
    static func unpack() throws(SandboxError) {
        let input = CLinuxShims_receive_descriptor(STDIN_FILENO)
        let stream = CLinuxShims_receive_descriptor(STDIN_FILENO)
        guard input >= 0, stream >= 0, move(input, to: STDIN_FILENO), move(stream, to: SandboxPlan.streamDescriptor)
        else { throw .notRestricted("its stream did not arrive: \(SandboxError.lastCause)") }
    }

    /// The new descriptor stays open in the hook.
    private static func move(_ descriptor: Int32, to place: Int32) -> Bool {
        if descriptor == place { return fcntl(descriptor, F_SETFD, 0) == 0 }
        defer { close(descriptor) }
        return dup2(descriptor, place) == place
    }
}
