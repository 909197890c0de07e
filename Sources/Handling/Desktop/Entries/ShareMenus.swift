import Foundation
package import SystemCalls

/// The entry of Waft among the applications with its icon, and the entries that start `waft share --desk`: one in the menu
/// of each file manager that is installed.
///
/// All calls may block on the disk.
package struct ShareMenus: Sendable {
    /// A file manager.
    package enum Manager: String, CaseIterable, Sendable {
        case thunar, dolphin, nautilus, nemo, caja
    }

    /// One of the files.
    package struct Entry: Hashable, Sendable {
        /// Absolute.
        package let path: String
        let text: String
        let mode: mode_t
    }

    /// A part of the file that Waft has written; no other file has it in one of its first lines.
    private static let mark = "Written by `waft desktop install`; Waft replaces it."
    private static let maximumBytes = 64 << 10
    private static let title = "Share with Waft"

    private let data: String
    private let configuration: String
    private let searchPath: [Substring]

    /// - Parameter environment: `XDG_DATA_HOME`, `XDG_CONFIG_HOME` or `HOME` names the folders, `PATH` the programs.
    /// - Returns: nil if none is an absolute path.
    package init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let home = folder("HOME")
        guard let data = folder("XDG_DATA_HOME") ?? home.map({ $0 + "/.local/share" }),
            let configuration = folder("XDG_CONFIG_HOME") ?? home.map({ $0 + "/.config" })
        else { return nil }
        (self.data, self.configuration) = (data, configuration)
        searchPath = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    }

    // MARK: The files

    /// The entries for this machine.
    /// - Parameters:
    ///   - program: the absolute path of `waft`.
    ///   - home: `WAFT_HOME` as an absolute path; nil for the usual one.
    ///   - icon: an SVG document.
    package func entries(program: String, home: String?, icon: String) -> [Entry] {
        let waft = (home.map { ["env", "WAFT_HOME=\($0)"] } ?? []) + [program]
        let words = waft + ["share", "--desk"]
        let installed = Manager.allCases.filter { manager in
            searchPath.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(manager.rawValue)") }
        }
        let application = application("Waft", "Share files with machines nearby", waft + ["desk"])
        return [
            Entry(path: applicationPath, text: application, mode: 0o644),
            Entry(path: iconPath, text: "<!-- \(Self.mark) -->\n" + icon, mode: 0o644),
        ] + installed.map { entry($0, words) }
    }

    /// The paths of all entries that Waft may have written. The last one is that of an older Waft.
    private var paths: [String] {
        [applicationPath, iconPath] + Manager.allCases.map(path) + [data + "/applications/org.waft.Share.desktop"]
    }

    private var applicationPath: String { data + "/applications/org.waft.Waft.desktop" }
    private var iconPath: String { data + "/icons/hicolor/scalable/apps/org.waft.Waft.svg" }

    private func path(_ manager: Manager) -> String {
        switch manager {
        case .thunar: data + "/Thunar/sendto/org.waft.Share.desktop"
        case .dolphin: data + "/kio/servicemenus/org.waft.Share.desktop"
        case .nautilus: data + "/nautilus/scripts/\(Self.title)"
        case .nemo: data + "/nemo/scripts/\(Self.title)"
        case .caja: configuration + "/caja/scripts/\(Self.title)"
        }
    }

    private func entry(_ manager: Manager, _ words: [String]) -> Entry {
        switch manager {
        case .thunar:
            Entry(
                path: path(manager), text: application(Self.title, "Send files to nearby machines", words), mode: 0o644)
        // Plasma runs menus of the user only if they are executable.
        case .dolphin: Entry(path: path(manager), text: serviceMenu(words), mode: 0o755)
        case .nautilus, .nemo, .caja: Entry(path: path(manager), text: script(words), mode: 0o755)
        }
    }

    /// Desktop Entry Specification 1.5. Without `MimeType` the entry is the default for no type.
    private func application(_ name: String, _ comment: String, _ words: [String]) -> String {
        let lines = [
            "# \(Self.mark)", "[Desktop Entry]", "Type=Application", "Version=1.4", "Name=\(name)",
            "Comment=\(comment)", "Exec=\(command(words))", "Icon=org.waft.Waft", "Terminal=false",
            "Categories=Network;FileTransfer;", "StartupNotify=false",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// A service menu of KDE's file manager: an action for all files and folders.
    private func serviceMenu(_ words: [String]) -> String {
        let lines = [
            "# \(Self.mark)", "[Desktop Entry]", "Type=Service", "MimeType=application/octet-stream;inode/directory;",
            "X-KDE-ServiceTypes=KonqPopupMenu/Plugin", "X-KDE-Priority=TopLevel", "Actions=share;", "",
            "[Desktop Action share]", "Name=\(Self.title)", "Exec=\(command(words))", "Icon=org.waft.Waft",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private func command(_ words: [String]) -> String {
        // The field code stands alone: it may not be quoted.
        DesktopEntryWord.value((words.map(DesktopEntryWord.quoted) + ["%F"]).joined(separator: " "))
    }

    /// A script, which gets the names of the selected files, relative to the folder that is shown.
    private func script(_ words: [String]) -> String {
        """
        #!/bin/sh
        # \(Self.mark)
        for name do
            case $name in /*) ;; *) name=./$name ;; esac
            set -- "$@" "$name"
            shift
        done
        exec \(words.map(ShellWord.quoted).joined(separator: " ")) -- "$@"

        """
    }

    // MARK: Their state

    /// The entries that stand in the way: files of another hand.
    package func foreign(_ entries: [Entry]) throws(SystemError) -> [Entry] {
        var found: [Entry] = []
        for entry in entries where try read(entry.path).map(Self.isOurs) == false { found.append(entry) }
        return found
    }

    /// The paths of the entries that Waft has written.
    package func written() throws(SystemError) -> [String] {
        var found: [String] = []
        for path in paths where try read(path).map(Self.isOurs) == true { found.append(path) }
        return found
    }

    /// Whether the entries are there, and no others of Waft.
    package func areCurrent(_ entries: [Entry]) -> Bool {
        guard let written = try? written() else { return false }
        return written.count == entries.count && entries.allSatisfy { (try? read($0.path)) == $0.text }
    }

    /// Writes the entries, and removes those of file managers that are gone.
    package func install(_ entries: [Entry]) throws(SystemError) {
        for entry in entries {
            try FolderMaking.make(SmallFile.folder(of: entry.path))
            try SmallFile.replace(entry.path, with: Array(entry.text.utf8), exactly: entry.mode)
        }
        let kept = Set(entries.map(\.path))
        for path in try written() where !kept.contains(path) { try remove(path) }
    }

    /// Removes the entries that Waft has written.
    package func removeAll() throws(SystemError) {
        for path in try written() { try remove(path) }
    }

    private func remove(_ path: String) throws(SystemError) {
        try systemCall { unlink(path) }
        try SmallFile.syncFolder(SmallFile.folder(of: path))
    }

    private static func isOurs(_ text: String) -> Bool {
        text.split(separator: "\n", maxSplits: 2).prefix(2).contains { $0.contains(mark) }
    }

    /// - Returns: nil if there is no file; an empty text for one that cannot be ours.
    private func read(_ path: String) throws(SystemError) -> String? {
        do throws(SmallFile.AccessError) {
            return String(decoding: try SmallFile.read(path, limit: Self.maximumBytes), as: UTF8.self)
        } catch {
            switch error {
            case .missing: return nil
            case .link, .notRegular, .tooLarge: return ""
            case .system(let error): throw error
            }
        }
    }
}
