import Desktop
import Foundation
import HandlerCatalog
package import Lines
import Settings
import SystemCalls

extension Waft {
    /// The desktop entries of this user.
    /// - Parameters:
    ///   - icon: the picture of the menus, in SVG.
    ///   - environment: names the folders of the desktop.
    /// - Throws: `WaftError` `usage` if there is no folder for them.
    package func desktop(
        icon: String, _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(WaftError) -> DesktopEntries {
        guard let file = SchemeEntryFile(environment: environment), let menus = ShareMenus(environment: environment)
        else { throw WaftError(.usage, "neither XDG_DATA_HOME nor HOME is set to a folder; set one of them") }
        return DesktopEntries(
            file: file, menus: menus, schemes: home.handlerCatalog(settings).load().openedSchemes.map(\.text),
            home: Home.root(environment), icon: icon)
    }
}

/// The desktop entry that opens URLs of handlers, and the menus of file managers that share files.
package struct DesktopEntries: Sendable {
    fileprivate let file: SchemeEntryFile
    fileprivate let menus: ShareMenus
    /// The schemes that handlers open.
    fileprivate let schemes: [String]
    /// `WAFT_HOME` as an absolute path; nil for the usual home.
    fileprivate let home: String?
    fileprivate let icon: String

    /// - Throws: `WaftError` `unexpected` if the entry cannot be read.
    package func status() throws(WaftError) -> DesktopLine { line(try state()) }

    /// Writes the entries, or brings them up to date. They start the program that runs now.
    /// - Parameter force: replaces files that Waft has not written.
    /// - Returns: and whether the desktop's database of entries is up to date.
    /// - Throws: `WaftError`: `usage` for such a file, `unexpected` if an entry cannot be written.
    package func install(force: Bool) async throws(WaftError) -> (line: DesktopLine, isKnown: Bool) {
        if try state() == .foreign, !force { throw isForeign("install", file.path) }
        let (entry, shares) = (try entry(), try shares())
        var foreign: [ShareMenus.Entry] = []
        try changing { () throws(SystemError) in foreign = try menus.foreign(shares) }
        if !force, let one = foreign.first { throw isForeign("install", one.path) }
        try changing { () throws(SystemError) in
            try file.write(entry)
            try menus.install(shares)
        }
        let isKnown = await file.updateDatabase()
        return (line(.written(entry)), isKnown)
    }

    /// - Parameter force: removes even an entry that Waft has not written.
    /// - Returns: and whether there was an entry.
    /// - Throws: as `install`.
    package func remove(force: Bool) async throws(WaftError) -> (line: DesktopLine, wasThere: Bool) {
        let state = try state()
        if state == .foreign, !force { throw isForeign("remove", file.path) }
        try changing { () throws(SystemError) in try menus.removeAll() }
        if state != .missing {
            try changing { () throws(SystemError) in try file.remove() }
            await file.updateDatabase()
        }
        return (line(.missing), state != .missing)
    }

    private func state() throws(WaftError) -> SchemeEntryFile.State {
        do throws(SystemError) {
            return try file.read()
        } catch {
            throw fault("read", error)
        }
    }

    /// The entry that starts this program.
    private func entry() throws(WaftError) -> SchemeEntry {
        SchemeEntry(program: try OwnPrograms.path(), home: home, schemes: schemes)
    }

    /// The entries of `menus` that start this program.
    private func shares() throws(WaftError) -> [ShareMenus.Entry] {
        menus.entries(program: try OwnPrograms.path(), home: home, icon: icon)
    }

    private func line(_ state: SchemeEntryFile.State) -> DesktopLine {
        guard case .written(let entry) = state else {
            return DesktopLine(path: file.path, isForeign: state == .foreign)
        }
        let shares = try? shares()
        return DesktopLine(
            path: file.path, urlSchemes: entry.schemes,
            isCurrent: (try? self.entry()) == entry && shares.map(menus.areCurrent) == true,
            menus: (try? menus.written()) ?? [], command: entry.command,
            leftSchemes: schemes.filter { !SchemeEntry.claims($0) })
    }

    private func changing(_ body: () throws(SystemError) -> Void) throws(WaftError) {
        do throws(SystemError) {
            try body()
        } catch {
            throw fault("changed", error)
        }
    }

    private func isForeign(_ verb: String, _ path: String) -> WaftError {
        WaftError(
            .usage, "\(path) is a file that Waft has not written",
            hint: "to \(verb == "install" ? "replace" : "remove") it: waft desktop \(verb) --force")
    }

    private func fault(_ verb: String, _ error: SystemError) -> WaftError {
        WaftError(.unexpected, "\(file.path) cannot be \(verb): \(error)")
    }
}
