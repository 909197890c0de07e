import Glibc

/// The programs of systemd that tests use without a booted system.
enum SystemdTools {
    static let socketActivate = "/usr/bin/systemd-socket-activate"
    static let analyze = "/usr/bin/systemd-analyze"

    /// Whether they are installed; otherwise their tests are reported as skipped.
    static let arePresent = access(socketActivate, X_OK) == 0 && access(analyze, X_OK) == 0
}
