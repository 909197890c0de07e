import Endpoints
import Foundation
import Glibc
import Settings
import Sharing

/// The clock of this machine, compared with the times of files: the program was built before now, and so was the state
/// written.
struct ClockCheck: DoctorCheck {
    let name = "clock"

    /// Clocks of two machines differ, and a package may be built on another one. Seconds.
    private static let slack = 86_400
    /// A file of this machine can be as new as its clock. Seconds.
    private static let slackOfFiles = 300

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        let now = Int(WallTime.now.milliseconds / 1_000)
        let built = Self.changed("/proc/self/exe")
        let written = scene.home.flatMap { Self.newest(in: $0.state) }
        return [Self.finding(now: now, built: built, written: written)]
    }

    /// - Parameters: seconds since 1970.
    static func finding(now: Int, built: Int?, written: Int?) -> DoctorFinding {
        let hint = "set the clock, such as by: timedatectl set-ntp true"
        if let built, now < built - slack {
            return .problem(
                "the clock says \(text(now)), and this program was built after that, on \(text(built))", hint: hint)
        }
        if let written, now < written - slackOfFiles {
            return .problem(
                "the clock says \(text(now)), and Waft has written files after that, on \(text(written))", hint: hint)
        }
        return .ok(text(now))
    }

    private static func text(_ seconds: Int) -> String {
        ISOTime.text(WallTime(milliseconds: Int64(seconds) * 1_000))
    }

    private static func changed(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_mtim.tv_sec) : nil
    }

    private static func newest(in folder: String) -> Int? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { changed("\(folder)/\($0)") }.max()
    }
}
