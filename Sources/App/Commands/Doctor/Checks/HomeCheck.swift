import Control
import Endpoints
import Foundation
import Glibc
import Settings
import Sharing
import SystemCalls

/// The folders of this Waft, and `WAFT_HOME`.
struct HomeCheck: DoctorCheck {
    let name = "home"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        let root = scene.environment["WAFT_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        if let root, let fault = Self.fault(ofRoot: root, user: geteuid()) { return [fault] }
        if let fault = scene.homeFault {
            return [.problem(fault, hint: "correct that first: until then Waft reads nothing there")]
        }
        guard let home = scene.home else { return [] }
        do {
            _ = try ControlSocket(folder: home.run)
        } catch {
            return [.problem(error.description, hint: "set WAFT_HOME or XDG_RUNTIME_DIR to a shorter path")]
        }
        guard access(home.state, F_OK) == 0 else {
            return [
                .warning(
                    "\(root ?? home.state) has nothing of Waft yet",
                    hint: "the first start makes it; if there should be something, WAFT_HOME names another place")
            ]
        }
        return [.ok(root ?? "\(home.configuration), \(home.state)")]
    }

    /// - Parameter root: the value of `WAFT_HOME`.
    static func fault(ofRoot root: String, user: uid_t) -> DoctorFinding? {
        guard PathText.isAbsolute(root) else {
            return .problem(
                "WAFT_HOME is \(root), which is another folder for each working directory",
                hint: "set an absolute path, the same for waftd and for the commands")
        }
        var status = stat()
        guard stat(root, &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return .problem("WAFT_HOME is \(root), which is not a folder", hint: "set it to a folder, or unset it")
        }
        guard status.st_uid == user else {
            return .problem(
                "WAFT_HOME is \(root), which belongs to another user (uid \(status.st_uid))",
                hint: "set it to a folder of your own, or run Waft as that user")
        }
        return nil
    }
}
