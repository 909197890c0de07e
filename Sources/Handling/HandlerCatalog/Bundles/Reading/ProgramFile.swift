import Glibc
import SystemCalls

/// A program that a new handler will run.
struct ProgramFile: ~Copyable {
    /// Absolute, as it was given.
    let path: String
    private let file: FileDescriptor
    private let bytes: Int

    /// Opens the program, and checks whether the kernel would start it.
    ///
    /// - Parameter isRunThere: whether the program runs in its own place: then a user who can change the file can also
    ///   run code here.
    /// - Throws: `CatalogError` `unfit`, `missingProgram`.
    static func opening(_ path: String, isRunThere: Bool) throws(CatalogError) -> ProgramFile {
        do {
            let file = try FileDescriptor.opening(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            var status = stat()
            try systemCall { fstat(file.raw, &status) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw UnfitError("it is not a regular file") }
            guard status.st_size > 0 else { throw UnfitError("it is empty") }
            guard status.st_size <= CatalogLimits.programBytes else {
                throw UnfitError("it is larger than \(CatalogLimits.programBytes >> 20) MiB")
            }
            try lookAtStart(file.raw)
            if isRunThere { try checkPlace(path, status) }
            return ProgramFile(path: path, file: file, bytes: Int(status.st_size))
        } catch let unfit as UnfitError {
            throw .unfitProgram(path, unfit.reason)
        } catch let error as SystemError {
            throw .missingProgram(path, error)
        } catch {
            throw .unfitProgram(path, "\(error)")
        }
    }

    private init(path: String, file: consuming FileDescriptor, bytes: Int) {
        self.path = path
        self.file = file
        self.bytes = bytes
    }

    private struct UnfitError: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private static func checkPlace(_ path: String, _ status: stat) throws {
        guard faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 else {
            throw UnfitError("it is not executable; chmod +x may be missing")
        }
        guard status.st_mode & S_IWOTH == 0 else {
            throw UnfitError("everyone may write to it; chmod o-w may be missing, or use --copy")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw UnfitError(
                "it belongs to user \(status.st_uid), who could have other programs run as you; use --copy")
        }
    }

    /// The kernel starts a hook, not a shell, which would make up for a missing `#!`. A text without `#!` does not run.
    private static func lookAtStart(_ file: Int32) throws {
        var start = [UInt8](repeating: 0, count: 512)
        let count = try systemCall { start.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, 0) } }
        start.removeLast(start.count - count)
        if start.starts(with: "#!".utf8) {
            let line = start.prefix { $0 != UInt8(ascii: "\n") }
            guard line.last != UInt8(ascii: "\r") else {
                throw UnfitError(
                    "its lines end as on Windows; the kernel would take the carriage return for a part of the "
                        + "interpreter's name")
            }
        } else if !start.contains(0) {
            throw UnfitError("it is a text whose first line does not name an interpreter, such as #!/bin/sh")
        }
    }

    /// Copies the program into an empty file.
    /// - Throws: the kernel's error; `EFBIG` if the file has grown too large since.
    func copy(to target: Int32) throws(SystemError) {
        var buffer = [UInt8](repeating: 0, count: min(bytes + 1, 1 << 20))
        var offset = 0
        while true {
            let position = off_t(offset)
            let count = try systemCall {
                buffer.withUnsafeMutableBytes { pread(file.raw, $0.baseAddress, $0.count, position) }
            }
            if count == 0 { return }
            offset += count
            guard offset <= CatalogLimits.programBytes else { throw SystemError(EFBIG) }
            try SmallFile.write(Array(buffer[..<count]), to: target)
        }
    }
}
