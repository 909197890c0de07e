import Foundation

/// The right to be the one receiver of a run folder: a lock on a file beside the socket. It is released with the last
/// reference or, by the kernel, at any end of the process.
///
/// A connection attempt alone cannot decide it: if two receivers start at the same moment, neither finds the other, and
/// the second takes the socket of the first.
final class ControlLock: Sendable {
    private let descriptor: Int32

    /// A second in all, in microseconds each.
    private static let tries = 50
    private static let pause: UInt32 = 20_000

    /// - Throws: `alreadyRunning` where another process, or another server of this one, has it.
    init(beside socket: ControlSocket) throws(ControlError) {
        let path = socket.path + ".lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw .broken(
                "the lock of the control socket, \(path), cannot be made: \(String(cString: strerror(errno)))")
        }
        // A process that was just killed may not have ended: the kernel releases its lock at its end. A starting
        // receiver does nothing else, so its thread may wait.
        var triesLeft = Self.tries
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK, triesLeft > 0 {
            triesLeft -= 1
            usleep(Self.pause)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // `deinit` closes it.
            let error = errno
            if error == EWOULDBLOCK { throw .alreadyRunning(socket.path) }
            throw .broken("the control socket cannot be locked: \(String(cString: strerror(error)))")
        }
    }

    deinit {
        // The file stays: removing it would let a third one lock another file of the same name.
        close(descriptor)
    }
}
