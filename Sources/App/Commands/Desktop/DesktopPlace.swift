import Desk
import Desktop
import Endpoints
import Foundation
import HandlerCatalog
import Lines
import Settings
import SystemCalls

/// The desktop entry of this user, and the data for a new one.
struct DesktopPlace {
    /// The fields of a line of `--json`.
    struct Fields: Encodable {
        /// `installed`, `missing`, or `foreign` for a file that Waft has not written.
        var state: String
        var path: String
        /// Absent without an entry of Waft.
        var urlSchemes: [String]?
        /// Whether a new entry would be the same; absent without an entry of Waft.
        var isCurrent: Bool?
        /// The paths of the entries for sharing; absent without an entry of Waft.
        var menus: [String]?
    }

    let file: SchemeEntryFile
    let menus: ShareMenus
    /// The schemes that handlers open.
    let schemes: [String]
    /// `WAFT_HOME` as an absolute path; nil for the usual home.
    let home: String?

    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws(CommandError) {
        let context = try CommandContext()
        guard let file = SchemeEntryFile(environment: environment), let menus = ShareMenus(environment: environment)
        else { throw CommandError(.usage, "neither XDG_DATA_HOME nor HOME is set to a folder; set one of them") }
        (self.file, self.menus) = (file, menus)
        schemes = context.home.handlerCatalog(context.settings).load().openedSchemes.map(\.text)
        home = Home.root(environment)
    }

    var state: SchemeEntryFile.State {
        get throws(CommandError) {
            do throws(SystemError) {
                return try file.read()
            } catch {
                throw fault("read", error)
            }
        }
    }

    /// The entry that starts this program.
    var entry: SchemeEntry {
        get throws(CommandError) {
            SchemeEntry(program: try OwnPrograms.running(), home: home, schemes: schemes)
        }
    }

    /// The entries of `menus` that start this program.
    var shares: [ShareMenus.Entry] {
        get throws(CommandError) {
            menus.entries(program: try OwnPrograms.running(), home: home, icon: DeskPage.icon)
        }
    }

    func isCurrent(_ entry: SchemeEntry) -> Bool {
        guard let fresh = try? self.entry, let shares = try? shares else { return false }
        return fresh == entry && menus.areCurrent(shares)
    }

    /// Changes the file.
    func changing(_ body: () throws(SystemError) -> Void) throws(CommandError) {
        do throws(SystemError) {
            try body()
        } catch {
            throw fault("changed", error)
        }
    }

    func isForeign(_ verb: String, _ path: String? = nil) -> CommandError {
        CommandError(
            .usage,
            "\(TerminalText.escaped(path ?? file.path, limit: 4_096)) is a file that Waft has not written",
            hint: "to \(verb == "install" ? "replace" : "remove") it: waft desktop \(verb) --force")
    }

    /// The facts about an entry, for people.
    func lines(_ entry: SchemeEntry) -> [String] {
        let opens = entry.schemes.map { "\($0):" }.joined(separator: ", ")
        let left = schemes.filter { !SchemeEntry.claims($0) }.map { "\($0):" }.joined(separator: ", ")
        return [
            "opens  "
                + (opens.isEmpty ? "nothing yet: no handler opens URLs" : TerminalText.escaped(opens, limit: 4_096)),
            left.isEmpty ? nil : "leaves \(TerminalText.escaped(left, limit: 4_096)) to the desktop",
            "runs   \(TerminalText.escaped(entry.command, limit: 4_096))",
        ].compactMap(\.self) + menuPaths.map { "shares \(TerminalText.escaped($0, limit: 4_096))" }
    }

    /// The paths of the written menus; empty if they cannot be read.
    private var menuPaths: [String] { (try? menus.written()) ?? [] }

    func fields(_ state: SchemeEntryFile.State) -> Fields {
        switch state {
        case .missing: Fields(state: "missing", path: file.path)
        case .foreign: Fields(state: "foreign", path: file.path)
        case .written(let entry):
            Fields(
                state: "installed", path: file.path, urlSchemes: entry.schemes, isCurrent: isCurrent(entry),
                menus: menuPaths)
        }
    }

    private func fault(_ verb: String, _ error: SystemError) -> CommandError {
        CommandError(.unexpected, "\(TerminalText.escaped(file.path, limit: 4_096)) cannot be \(verb): \(error)")
    }
}
