import Foundation
import Glibc

/// The units that a package, an installation below a prefix or the administrator has put where systemd looks.
struct InstalledUnits: Equatable {
    /// The path of the service, and that of its socket if there is one.
    let paths: [String]

    /// - Returns: nil if there are none besides those in the folder of `waft service install`.
    static func find(_ systemctl: Systemctl) async throws(CommandError) -> InstalledUnits? {
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
