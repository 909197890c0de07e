import Foundation
import Glibc
import Lines

/// Where the programs of this installation are.
package enum OwnPrograms {
    /// The path of the `waftd` beside the running `waft`: beside its link if it was started by one, as package managers
    /// replace the file and keep the link.
    ///
    /// - Throws: `WaftError` if there is none, or systemd could not name it.
    static func daemon() throws(WaftError) -> String {
        let folders = [folderOfCommand(), link("/proc/self/exe").map(folder)].compactMap(\.self)
        guard let path = folders.map({ $0 + "/waftd" }).first(where: { access($0, X_OK) == 0 }) else {
            throw WaftError(.inputMissing, "there is no waftd beside this waft: install it first")
        }
        guard !path.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw WaftError(.usage, "systemd cannot start a program in a folder with such a name")
        }
        return path
    }

    /// The absolute path of the running program.
    /// - Throws: `WaftError` `unexpected` if it is no longer there.
    package static func path() throws(WaftError) -> String {
        guard let path = link("/proc/self/exe"), access(path, X_OK) == 0 else {
            throw WaftError(.unexpected, "the path of this program cannot be read; it may have been replaced")
        }
        return path
    }

    private static func folderOfCommand() -> String? {
        guard let word = CommandLine.unsafeArgv[0].map({ String(cString: $0) }) else { return nil }
        if word.contains("/") { return folder(URL(fileURLWithPath: word).standardizedFileURL.path) }
        let places = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return places.first { $0.hasPrefix("/") && access($0 + "/" + word, X_OK) == 0 }
    }

    private static func folder(_ path: String) -> String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    private static func link(_ path: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: path)
    }
}
