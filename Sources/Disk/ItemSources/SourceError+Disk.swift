import Glibc
import Sharing
import SystemCalls

extension SourceError {
    /// A fault of one file, folder or link.
    ///
    /// - Parameters:
    ///   - path: its path; this function escapes it.
    ///   - what: the problem, and advice.
    static func at(_ path: String, _ code: Code, _ what: String) -> SourceError {
        SourceError(code, "\(PathText.printable(path)): \(what)")
    }

    /// The fault for the kernel's error on one file, folder or link.
    static func disk(_ path: String, _ error: SystemError) -> SourceError {
        switch error.number {
        case ENOENT:
            .at(path, .missing, "there is no such file or folder")
        case ENOTDIR:
            .at(path, .missing, "a file stands where its path needs a folder")
        case EACCES, EPERM:
            .at(path, .unreadable, "may not be read (\(error)); check its permissions, or leave it out")
        case ELOOP:
            .at(path, .unreadable, "its links lead in a circle; replace them by their targets")
        case EFBIG:
            .at(path, .unreadable, "holds more than can be sent as one item; send it in parts")
        default:
            .at(path, .unreadable, "cannot be read (\(error))")
        }
    }

    /// For a name that cannot be sent.
    static func name(_ path: String, _ refusal: NameError, advice: String = "rename it, or leave it out")
        -> SourceError
    {
        .at(path, .unreadable, "\(refusal); \(advice)")
    }

    static func changed(_ path: String, _ what: String) -> SourceError {
        .at(path, .changed, "changed while it was sent: \(what); send it again")
    }

    /// For a file of the kernel, whose size is not that of its contents.
    static func size(_ path: String, _ what: String) -> SourceError {
        .at(path, .changed, "it holds \(what) than its size says; pipe it to standard input instead")
    }

    /// For an entry that is not a file, a folder or a link.
    /// - Parameter isItem: whether it is the whole item, and no entry of a folder.
    static func special(_ path: String, mode: mode_t, isItem: Bool = false) -> SourceError {
        let what =
            switch mode & S_IFMT {
            case S_IFIFO: "a named pipe"
            case S_IFSOCK: "a socket"
            case S_IFCHR, S_IFBLK: "a device"
            default: "neither a file nor a folder"
            }
        let isPipe = isItem && mode & S_IFMT == S_IFIFO
        let advice = isPipe ? "to send what comes through it: COMMAND | waft send -" : "leave it out"
        return .at(path, .unreadable, "is \(what) and cannot be sent; \(advice)")
    }
}
