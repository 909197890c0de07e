import Foundation
import Sharing
import SystemCalls

/// Where everything of one user's Waft lies: below `WAFT_HOME`, or where the XDG base directories say.
package struct Home: Sendable, Hashable {
    /// Folder of `config.yaml`.
    package let configuration: String
    /// Folder of the identity and, later, the journal.
    package let state: String
    /// Folder of the handlers' bundles.
    package let handlers: String
    /// The Inbox.
    package let inbox: String
    /// Folder of the control socket.
    package let run: String

    package var configurationFile: String { configuration + "/config.yaml" }

    /// Why no place can be found for anything.
    package struct MissingError: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter environment: usually the process's. Empty variables count as unset, and relative XDG paths too, as
    ///   the XDG specification says; a relative `WAFT_HOME` is taken from the working directory.
    /// - Throws: `MissingError` when neither `WAFT_HOME` nor `HOME` says where to look, and for a path that is not UTF-8.
    package init(environment: [String: String]) throws(MissingError) {
        for name in Self.variables { try Self.check(name, environment[name]) }
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let root = Self.root(environment) {
            configuration = root + "/config"
            state = root + "/state"
            handlers = root + "/handlers"
            inbox = root + "/Documents/Inbox"
            run = root + "/run"
            return
        }
        guard let home = variable("HOME"), PathText.isAbsolute(home) else {
            throw MissingError(description: "neither WAFT_HOME nor HOME is set to a folder; set one of them")
        }
        func folder(_ name: String, _ standard: String) -> String {
            variable(name).flatMap { PathText.isAbsolute($0) ? $0 : nil } ?? home + "/" + standard
        }
        let configurationHome = folder("XDG_CONFIG_HOME", ".config")
        configuration = configurationHome + "/waft"
        state = folder("XDG_STATE_HOME", ".local/state") + "/waft"
        handlers = folder("XDG_DATA_HOME", ".local/share") + "/waft/handlers"
        let documents =
            variable("XDG_DOCUMENTS_DIR").flatMap { PathText.isAbsolute($0) ? $0 : nil }
            ?? UserDirectories.path(
                of: "XDG_DOCUMENTS_DIR", in: configurationHome + "/user-dirs.dirs", home: home)
            ?? home + "/Documents"
        inbox = PathText.joined(documents, "Inbox")
        // Without a session's run folder (a bare ssh login, cron) the state folder serves: it is private as well.
        run = variable("XDG_RUNTIME_DIR").flatMap { PathText.isAbsolute($0) ? $0 + "/waft" : nil } ?? state + "/run"
    }

    private static let variables = [
        "WAFT_HOME", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
        "XDG_DOCUMENTS_DIR",
    ]

    /// A byte that is not UTF-8 would become U+FFFD: the path of another folder.
    private static func check(_ name: String, _ value: String?) throws(MissingError) {
        guard value?.unicodeScalars.contains("\u{FFFD}") == true, let bytes = getenv(name),
            String(validatingCString: bytes) == nil
        else { return }
        throw MissingError(description: "\(name) is not UTF-8: set it to a folder whose path is")
    }

    /// `WAFT_HOME` as an absolute path; nil if it is not set.
    package static func root(_ environment: [String: String]) -> String? {
        environment["WAFT_HOME"].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0).standardizedFileURL.path }
    }

    /// Makes the folders that are missing, private to the user (the Inbox makes itself).
    /// - Throws: `MissingError` that names the folder and the reason.
    package func makeFolders() throws(MissingError) {
        for folder in [configuration, state, run] {
            do throws(SystemError) {
                try FolderMaking.make(folder)
            } catch {
                throw MissingError(description: "the folder \(folder) cannot be made: \(error)")
            }
        }
    }
}
