import SystemPackage

/// What a program will read on its standard input.
enum StandardInput {
    /// The reading end of a pipe that holds all of it already: a program that ends without reading hurts nobody. (A
    /// writer of Subprocess traps when the program has gone.)
    static func holding(_ text: String) throws -> FileDescriptor {
        let bytes = Array(text.utf8)
        let (reading, writing) = try FileDescriptor.pipe()
        // Subprocess leaves its children no descriptors but those that it was told.
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
