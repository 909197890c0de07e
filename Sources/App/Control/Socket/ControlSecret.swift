import Glibc
import NIOCore
import SystemCalls

/// The secret that a command sends first: the contents of a file beside the socket. The uid is no proof, because a
/// handler has the same uid. A sandboxed handler can read nothing in the run folder (security rule 17).
struct ControlSecret: Sendable {
    /// The secret without the newline that ends its line: hexadecimal digits.
    private let digits: [UInt8]

    private static let bytes = 32

    private init(digits: [UInt8]) {
        self.digits = digits
    }

    /// Makes a new secret and writes it beside the socket, for this user only. Call this before the socket is bound, so
    /// that every client that can connect finds the file.
    ///
    /// - Throws: the kernel's error.
    static func make(for socket: ControlSocket) throws(SystemError) -> ControlSecret {
        let table = Array("0123456789abcdef".utf8)
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<2 * bytes).map { _ in table[Int.random(in: 0..<16, using: &generator)] }
        remove(for: socket)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        let file = try FileDescriptor.opening(socket.secretPath, flags, mode: 0o600)
        try SmallFile.write(digits, to: file.raw)
        return ControlSecret(digits: digits)
    }

    static func remove(for socket: ControlSocket) { unlink(socket.secretPath) }

    /// How long a command waits for the file.
    private static let patience: Duration = .seconds(5)

    /// The first line of a command, which is connected. Behind a passed socket the receiver starts by that, and only then
    /// makes the file.
    ///
    /// - Throws: `ControlError` `denied` if the file cannot be read.
    static func awaitedLine(for socket: ControlSocket) async throws -> ByteBuffer {
        let end = ContinuousClock.now + patience
        while access(socket.secretPath, F_OK) != 0, errno == ENOENT, .now < end {
            try await Task.sleep(for: .milliseconds(20))
        }
        return try line(for: socket)
    }

    /// The same of the file as it is.
    ///
    /// - Throws: `ControlError` `denied` if the file cannot be read.
    static func line(for socket: ControlSocket) throws(ControlError) -> ByteBuffer {
        do {
            var line = ByteBuffer(bytes: try SmallFile.read(socket.secretPath, limit: 2 * bytes))
            line.writeStaticString("\n")
            return line
        } catch {
            throw .denied("the secret of the control socket cannot be read, \(socket.secretPath): \(error)")
        }
    }

    /// Takes the same time for every wrong line of the right length.
    func matches(_ line: ByteBuffer) -> Bool {
        let shown = line.readableBytesView
        guard shown.count == digits.count else { return false }
        return zip(shown, digits).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
