import Foundation

/// The programs of this machine that a test sees unless it names more: no programs and no applications of a desktop, whether one is
/// installed here or not.
enum BareSystem {
    /// A search path.
    static var programs: String { folder + "/bin" }

    /// The search path of a receiver whose handlers look for programs: the sandbox shows them the system's folders only.
    static let handlerPrograms = "/usr/local/bin:/usr/bin:/bin"

    /// The variables in which a program on a machine without a desktop differs from the tests; nil takes one away.
    /// - Parameter hasHome: whether the test names a home, in which data folders are looked for.
    static func variables(hasHome: Bool) -> [String: String?] {
        [
            "PATH": programs, "XDG_DATA_DIRS": folder + "/share", "XDG_DATA_HOME": hasHome ? nil : folder + "/none",
            "XDG_RUNTIME_DIR": nil, "XDG_CURRENT_DESKTOP": nil, "DISPLAY": nil, "WAYLAND_DISPLAY": nil,
            "DBUS_SESSION_BUS_ADDRESS": nil,
        ]
    }

    /// The programs for which Waft looks, and which a test therefore makes itself.
    private static let programsOfDesktops: Set = [
        "caja", "chafa", "dolphin", "kdialog", "lp", "nautilus", "nemo", "thunar", "wl-copy", "x-terminal-emulator",
        "xclip", "xdg-email", "xdg-open", "xdg-settings", "zenity",
    ]

    /// Removed when the tests end.
    private static let folder: String = {
        let files = FileManager.default
        let folder = "/tmp/waft-test-system-\(getpid())"
        do {
            for name in ["bin", "share"] {
                try files.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            }
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            for place in path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/bin", "/sbin", "/bin"] {
                let names = (try? files.contentsOfDirectory(atPath: place)) ?? []
                for name in names where !programsOfDesktops.contains(name) {
                    // The first one with a name stays.
                    _ = symlink("\(place)/\(name)", "\(folder)/bin/\(name)")
                }
            }
            // The types of files, and no applications.
            _ = symlink("/usr/share/mime", folder + "/share/mime")
        } catch {
            fatalError("the programs for the tests: \(error)")
        }
        atexit { try? FileManager.default.removeItem(atPath: "/tmp/waft-test-system-\(getpid())") }
        return folder
    }()
}
