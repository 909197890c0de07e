/// The variables of this process's environment that a program of the user gets.
///
/// The environment of a service or a login often has secrets. A program gets none that its bundle does not name.
package struct ProgramVariables: Hashable, Sendable {
    /// Names in `WaftEnvironment`.
    package static let maximumNames = 64
    /// Bytes of a name.
    static let nameBytes = 128

    /// What every program gets.
    private static let usual: Set<String> = ["HOME", "PATH", "USER", "LANG", "LANGUAGE", "TZ"]
    private static let usualPrefixes = ["LC_", "WAFT_"]

    /// What a program needs that speaks to the user's session.
    private static let session: Set<String> = [
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "BROWSER", "LOGNAME",
        "SHELL", "XMODIFIERS", "GNOME_DESKTOP_SESSION_ID", "MATE_DESKTOP_SESSION_ID", "SWAYSOCK", "MOZ_ENABLE_WAYLAND",
    ]
    private static let sessionPrefixes = ["XDG_", "KDE_", "GTK_", "GDK_", "QT_", "XCURSOR_"]

    /// Those of the dynamic linker, of shells and of the C library: they change the code of the programs that get them.
    private static let loaders: Set<String> = [
        "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH",
    ]
    private static let loaderPrefixes = ["LD_", "BASH_FUNC_", "MALLOC_"]

    /// Those of the starter of this process (such as systemd), which are for this process alone.
    private static let own: Set<String> = [
        "NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "MAINPID",
        "CREDENTIALS_DIRECTORY", "JOURNAL_STREAM", "INVOCATION_ID",
    ]

    /// Whether it gets the variables of the session too.
    package var includesSession: Bool
    /// Further names, of those that ``flaw(of:)`` allows.
    package var named: Set<String>

    package init(includesSession: Bool = false, named: some Sequence<String> = []) {
        (self.includesSession, self.named) = (includesSession, Set(named))
    }

    /// A program with sockets gets the addresses of the programs that it may use.
    package init(_ rules: LaunchRules) {
        self.init(includesSession: rules.sandbox == .none || rules.allowsSockets, named: rules.environment)
    }

    /// Why a bundle may not name this variable, for people; nil if it may.
    package static func flaw(of name: String) -> String? {
        func isLetter(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        guard let first = name.utf8.first, isLetter(first), name.utf8.count <= nameBytes,
            name.utf8.allSatisfy({ isLetter($0) || isDigit($0) })
        else { return "a name of a variable is letters, digits and _, such as HTTP_PROXY" }
        if name.hasPrefix("WAFT_") || name == "TMPDIR" { return "Waft sets \(name) itself" }
        if own.contains(name) { return "\(name) is for the receiver alone" }
        let changesCode = loaders.contains(name) || loaderPrefixes.contains(where: name.hasPrefix)
        return changesCode ? "\(name) would change the code of the programs that get it" : nil
    }

    /// - Parameter environment: of this process.
    package func passed(_ environment: [String: String]) -> [String: String] {
        environment.filter { includes($0.key) }
    }

    /// Whether the program gets the variable.
    package func includes(_ name: String) -> Bool {
        if Self.usual.contains(name) || named.contains(name) { return true }
        if Self.usualPrefixes.contains(where: name.hasPrefix) { return true }
        guard includesSession else { return false }
        return Self.session.contains(name) || Self.sessionPrefixes.contains(where: name.hasPrefix)
    }
}
