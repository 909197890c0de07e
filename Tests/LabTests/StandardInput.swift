import SystemPackage

/// The complete standard input of a program.
enum StandardInput {
    /// The reading end of a pipe that has all of it already: a program that ends without reading does no harm. (A
    /// writer of Subprocess traps when the program has gone.)
    static func holding(_ text: String) throws -> FileDescriptor {
        let bytes = Array(text.utf8)
        let (reading, writing) = try FileDescriptor.pipe()
        // Subprocess gives its children only the given descriptors.
        do {
            // A pipe takes 64 KiB before it makes its writer wait.
            precondition(bytes.count <= 64 << 10, "more than a pipe holds")
            try writing.closeAfter { _ = try writing.writeAll(bytes) }
            return reading
        } catch {
            try? reading.close()
            throw error
        }
    }
}
