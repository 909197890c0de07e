import Digests
import Foundation
import Glibc
import Lines
import SystemCalls

/// The file of a unit. Its first line shows a later `waft service` whether anybody has changed it.
struct UnitFile {
    let path: String

    private static let mark = "# Written by waft service install; put changes into a drop-in: systemctl edit. Check: "
    private static let longest = 64 << 10

    enum Owner {
        case nobody
        case waft
        /// Another program, or a person who has changed it.
        case other
    }

    /// The writer of the present file.
    var owner: Owner {
        do throws(SmallFile.AccessError) {
            let text = String(decoding: try SmallFile.read(path, limit: Self.longest), as: UTF8.self)
            guard let end = text.firstIndex(of: "\n") else { return .other }
            let unit = String(text[text.index(after: end)...])
            return text == Self.marked(unit) ? .waft : .other
        } catch {
            return error == .missing ? .nobody : .other
        }
    }

    /// - Throws: `WaftError` if another one has written it.
    func requireOwn(orForced force: Bool) throws(WaftError) {
        guard owner == .other, !force else { return }
        throw WaftError(
            .usage, "\(path) was written by another hand, and is not touched",
            hint: "with --force it is replaced or removed all the same")
    }

    func write(_ unit: String) throws(WaftError) {
        do throws(SystemError) {
            try FolderMaking.make(SmallFile.folder(of: path))
            try SmallFile.replace(path, with: Array(Self.marked(unit).utf8), mode: 0o644)
            // With any umask: the service manager of the machine is another user.
            try systemCall { chmod(path, 0o644) }
        } catch {
            throw WaftError(.unexpected, "\(path) cannot be written: \(error)")
        }
    }

    func remove() throws(WaftError) {
        guard unlink(path) == 0 || errno == ENOENT else {
            let reason = SystemError.last
            throw WaftError(.unexpected, "\(path) cannot be removed: \(reason)")
        }
        // The folder of drop-ins, unless it has others.
        if path.hasSuffix(".conf") { rmdir(SmallFile.folder(of: path)) }
    }

    private static func marked(_ unit: String) -> String { "\(mark)\(Digest.of(.xxh3_128, Array(unit.utf8)))\n\(unit)" }
}

/// The folder in which `waft service install` writes.
struct UnitFolder {
    /// Where systemd looks before it looks at installed units.
    let path: String

    /// The files of units that are there, by any hand.
    var units: [UnitFile] { files([ServiceUnits.service, ServiceUnits.socket]).filter { $0.owner != .nobody } }
    /// The drop-ins that an earlier installation has written here. Those of another hand are not Waft's.
    var dropIns: [UnitFile] { files(ServiceUnits.dropInNames).filter { $0.owner == .waft } }

    func file(of unit: UnitLine) -> UnitFile { UnitFile(path: "\(path)/\(unit.unit)") }

    private func files(_ names: [String]) -> [UnitFile] { names.map { UnitFile(path: "\(path)/\($0)") } }

    /// Removes the links that let units start by themselves, where the units are gone: systemd disables only a unit that it finds.
    func removeDanglingLinks() {
        for target in ["default.target", "multi-user.target", "sockets.target"] {
            for unit in [ServiceUnits.service, ServiceUnits.socket] {
                let link = "\(path)/\(target).wants/\(unit)"
                if access(link, F_OK) != 0 { unlink(link) }
            }
        }
    }
}

/// The units that a package, an installation below a prefix or the administrator has put where systemd looks.
struct InstalledUnits: Equatable {
    /// The path of the service, and that of its socket if there is one.
    let paths: [String]

    /// - Returns: nil if there are none besides those in the folder of `waft service install`.
    static func find(_ systemctl: Systemctl) async throws(WaftError) -> InstalledUnits? {
        let search = await systemctl.call("show", "--property=UnitPath", "--value").output
        return first(
            in: search.split(whereSeparator: \.isWhitespace).map(String.init), besides: try systemctl.scope.folder())
    }

    /// - Parameters:
    ///   - folders: those in which systemd looks, the first one counts.
    ///   - own: the folder in which `waft service install` writes.
    static func first(in folders: [String], besides own: String) -> InstalledUnits? {
        // Files below /run are gone after the next start.
        let others = folders.filter { $0 != own && !$0.hasPrefix("/run/") }
        guard let folder = others.first(where: { access("\($0)/\(ServiceUnits.service)", F_OK) == 0 }) else {
            return nil
        }
        let paths = [ServiceUnits.service, ServiceUnits.socket].map { "\(folder)/\($0)" }
        return InstalledUnits(paths: paths.filter { access($0, F_OK) == 0 })
    }
}
