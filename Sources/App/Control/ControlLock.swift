import Foundation

/// The right to be the one receiver of a run folder: a lock on a file beside the socket, given back with the last
/// reference or, by the kernel, when the process ends in whatever way.
///
/// A connection attempt alone cannot decide it: of two receivers that start at the same moment each would find nobody
/// there, and the second would take the first one's socket away.
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
        // One that was killed just now may still be going: the kernel gives back its lock at its end. Nothing else goes on
        // in a receiver that starts, so that a thread can wait for it.
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
