import Glibc
import Sharing
import SystemCalls

/// A file that a verb makes where the user says. No file is replaced.
enum NewFile {
    /// - Throws: `CommandError`: `usage` if there is a file already; otherwise nothing of it is left.
    static func write(_ bytes: [UInt8], to path: String) throws(CommandError) {
        let shown = TerminalText.escaped(path, limit: 4_096)
        do throws(SystemError) {
            let file = try FileDescriptor.opening(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o666)
            do throws(SystemError) {
                try SmallFile.write(bytes, to: file.raw)
            } catch {
                unlink(path)
                throw error
            }
        } catch {
            if error.number == EEXIST {
                throw CommandError(
                    .usage, "\(shown) is there already, and no file is replaced", hint: "give another name")
            }
            throw CommandError(.unexpected, "\(shown) cannot be written (\(error))")
        }
    }
}
