import Glibc
import SystemCalls

/// `CACHEDIR.TAG`, by which backup programs leave a folder out: nothing in the staging folder is complete.
/// https://bford.info/cachedir/
enum CacheTag {
    static let name = "CACHEDIR.TAG"

    private static let text = """
        Signature: 8a477f597d28d172789f06886806bc55
        # Waft stages incomplete items here. If they are missing, they are sent again.

        """

    /// Writes the tag unless it is there. Nothing depends on it, so a disk that does not take it is no fault.
    static func write(in folder: OpenFolder) {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let raw = openat(folder.raw, name, flags, 0o644)
        guard raw >= 0 else { return }
        let file = FileDescriptor(owning: raw)
        var status = stat()
        // One that is empty was cut off by a crash.
        guard fstat(file.raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 else { return }
        _ = text.withCString { Glibc.write(file.raw, $0, strlen($0)) }
    }
}
