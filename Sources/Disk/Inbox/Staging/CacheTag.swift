import Glibc
import SystemCalls

/// `CACHEDIR.TAG`, which makes backup programs skip a folder: nothing in the staging folder is complete.
/// https://bford.info/cachedir/
enum CacheTag {
    static let name = "CACHEDIR.TAG"

    private static let text = """
        Signature: 8a477f597d28d172789f06886806bc55
        # Waft stages incomplete items here. If they are missing, they are sent again.

        """

    /// Writes the tag unless it exists. Nothing depends on it, so a failure is ignored.
    static func write(in folder: OpenFolder) {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let raw = openat(folder.raw, name, flags, 0o644)
        guard raw >= 0 else { return }
        let file = FileDescriptor(owning: raw)
        var status = stat()
        // An empty file was cut off by a crash.
        guard fstat(file.raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 else { return }
        _ = text.withCString { Glibc.write(file.raw, $0, strlen($0)) }
    }
}
