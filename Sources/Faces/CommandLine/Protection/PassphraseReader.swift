import Executors
import Glibc
import Lines
import Secrets
import Sharing

/// Reads a line that is secret: a passphrase, or another secret of at most so many bytes.
enum PassphraseReader {
    /// Bytes of a passphrase.
    static let maximumBytes = 1_024

    /// The next line of an open file, without its end. Nothing behind it is read.
    ///
    /// - Parameters:
    ///   - name: of the secret, in messages.
    ///   - maximumBytes: of the line.
    /// - Returns: nil at the end of the file.
    /// - Throws: `CommandError` `usage` for a line that is too long, or a file that cannot be read.
    static func line(
        of file: Int32, name: String = "passphrase", maximumBytes: Int = maximumBytes
    ) throws(CommandError) -> SecretBytes? {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: maximumBytes + 1, alignment: 1)
        defer { room.free() }
        var count = 0
        while count <= maximumBytes {
            let result = Glibc.read(file, room.baseAddress.map { $0 + count }, 1)
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else {
                throw CommandError(.usage, "the \(name) cannot be read: \(String(cString: strerror(errno)))")
            }
            if result == 0, count == 0 { return nil }
            if result == 0 || room[count] == UInt8(ascii: "\n") { return room.secret(count) }
            count += 1
        }
        throw CommandError(.usage, "a \(name) has at most \(maximumBytes) bytes")
    }

    /// A line that a person types at the terminal, which does not show it.
    ///
    /// - Returns: nil at the end of the terminal.
    /// - Throws: `CommandError` `interrupted` on Ctrl-C, `usage` for a line that is too long.
    static func typed(_ prompt: String) async throws(CommandError) -> SecretBytes? {
        try await silently { try await nextTyped(prompt) }
    }

    /// Keeps the terminal from showing anything that is typed, from the first try to the last one, also while a passphrase
    /// is checked.
    ///
    /// - Parameter body: reads with `nextTyped`.
    /// - Throws: `CommandError` of the body, `interrupted` on Ctrl-C.
    static func silently<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws(CommandError) -> Result {
        let silence = TerminalMode(without: ECHO)
        defer { silence?.end() }
        let end = Cancellation()
        do {
            let result = try await Interruption.watching(end, goodbye: .zero, body)
            if !end.isRequested { return result }
        } catch {
            if !end.isRequested { throw error as? CommandError ?? CommandError(.unexpected, "\(error)") }
        }
        throw CommandError(.interrupted, "cancelled")
    }

    /// The next line, inside `silently`.
    ///
    /// - Returns: nil at the end of the terminal.
    /// - Throws: `CommandError` `usage` for a line that is too long.
    static func nextTyped(_ prompt: String) async throws(CommandError) -> SecretBytes? {
        guard let line = await typedLine(prompt) else {
            // Ctrl-C can end the reading before its signal is seen.
            try? await Task.sleep(for: .milliseconds(100))
            return nil
        }
        guard line.count <= maximumBytes else {
            throw CommandError(.usage, "a passphrase has at most \(maximumBytes) bytes")
        }
        return line
    }

    private static func typedLine(_ prompt: String) async -> SecretBytes? {
        let terminal = TypedLines.openTerminal()
        guard terminal >= 0 else { return nil }
        guard TypedLines.isInForeground(terminal) else {
            close(terminal)
            return nil
        }
        Console.shared.prompt(prompt)
        let lines = TypedLines.read(atMost: 1, { terminal }) { bytes in
            SecretBytes(bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...])
        }
        var line: SecretBytes?
        for await typed in lines { line = typed }
        Console.shared.answered()
        // The newline that was typed is not shown either.
        if !Task.isCancelled { Console.shared.note("") }
        return line
    }
}

extension UnsafeMutableRawBufferPointer {
    /// A copy of the first bytes.
    fileprivate func secret(_ count: Int) -> SecretBytes {
        SecretBytes(self[..<count])
    }

    /// Wipes the bytes and gives them back.
    fileprivate func free() {
        if let baseAddress { explicit_bzero(baseAddress, count) }
        deallocate()
    }
}
