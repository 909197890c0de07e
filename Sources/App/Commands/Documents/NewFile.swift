import Glibc
import Lines
import Sharing
import SystemCalls

/// A file that a verb makes where the user says. No file is replaced.
enum NewFile {
    /// - Throws: `CommandError`: `usage` if there is a file already, or no folder; `noRoom`. Nothing of the new file is left.
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
            switch error.number {
            case EEXIST:
                throw CommandError(
                    .usage, "\(shown) is there already, and no file is replaced", hint: "give another name")
            case ENOENT, ENOTDIR:
                throw CommandError(.usage, "\(shown): its folder is not there", hint: "make the folder first")
            case ENOSPC, EDQUOT: throw CommandError(.noRoom, "\(shown) cannot be written (\(error))")
            default: throw CommandError(.unexpected, "\(shown) cannot be written (\(error))")
            }
        }
    }
}
