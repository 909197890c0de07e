import Glibc
import SystemCalls

/// The folder in which `waft service install` writes.
struct UnitFolder {
    /// Where systemd looks before it looks at installed units.
    let path: String

    /// The files of units that are there, by any hand.
    var units: [UnitFile] { files([ServiceUnits.service, ServiceUnits.socket]).filter { $0.owner != .nobody } }
    /// The drop-ins that an earlier installation has written here. Those of another hand are not Waft's.
    var dropIns: [UnitFile] { files(ServiceUnits.dropInNames).filter { $0.owner == .waft } }

    func file(of unit: ServiceUnits.Unit) -> UnitFile { UnitFile(path: "\(path)/\(unit.name)") }

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

    /// Paths for a line to people: the first whole, of the others what differs from it.
    static func names(of paths: [String]) -> String {
        let folder = paths.first.map { SmallFile.folder(of: $0) + "/" } ?? ""
        let rest = paths.dropFirst().map { $0.hasPrefix(folder) ? String($0.dropFirst(folder.count)) : $0 }
        return TerminalText.escaped((paths.prefix(1) + rest).joined(separator: ", "), limit: 2_000)
    }
}
