import Glibc
import HookSandbox
import Sharing
import SystemPackage

extension HandlerProgram {
    /// Why it cannot be started as the disk is now: its file, its folder, or a path that its sandbox opens is missing.
    /// One line, which quotes paths unchanged; nil if no reason is visible.
    package var absence: String? { fault ?? fileFlaw ?? pathFlaws.first }

    /// The paths that its sandbox cannot open, each with its use.
    package var pathFlaws: [String] {
        guard sandbox != .none else { return [] }
        let paths = readablePaths.map { ($0, "which it may read") } + writablePaths.map { ($0, "where it may write") }
        return paths.compactMap { path, use in Self.isThere(path) ? nil : "\(path), \(use), does not exist" }
    }

    /// The fault in its files; nil if none is visible.
    var fileFlaw: String? {
        if let flaw = Self.flaw(ofFile: executable) { return flaw }
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return "its folder \(folder) is missing"
        }
        return nil
    }

    /// Why the kernel would not start a program of the configuration; nil if no reason is visible.
    ///
    /// - Parameter path: a relative one is taken from the working directory.
    package static func flaw(ofProgram path: String) -> String? { flaw(ofFile: absolutePath(path)) }

    private static func flaw(ofFile path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno != ENOENT, errno != ENOTDIR else { return "\(path) does not exist" }
            return "\(path) cannot be looked at: \(String(cString: strerror(errno)))"
        }
        guard status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else {
            return "\(path) is not an executable file; chmod +x may be missing"
        }
        guard let interpreter = interpreter(of: path), access(interpreter, X_OK) != 0 else { return nil }
        return "\(path) names \(ShownText.escaped(interpreter)) in its first line, which cannot be executed: "
            + String(cString: strerror(errno))
    }

    private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 || errno == EACCES }

    /// The interpreter after `#!` in the first line.
    private static func interpreter(of path: String) -> String? {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec]) else {
            return nil
        }
        defer { try? file.close() }
        // The kernel reads this many bytes (BINPRM_BUF_SIZE).
        var bytes = [UInt8](repeating: 0, count: 256)
        guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 2,
            bytes.starts(with: "#!".utf8)
        else { return nil }
        let line = bytes[2..<count].prefix { $0 != UInt8(ascii: "\n") }
        // A line from another system ends with a CR, which is then part of the name: it is shown.
        let word = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.first
        return word.map { String(decoding: $0, as: UTF8.self) }
    }
}
