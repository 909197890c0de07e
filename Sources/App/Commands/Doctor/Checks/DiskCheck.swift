import Endpoints
import Glibc
import Inbox
import Settings
import Sharing
import SystemCalls

/// The free space of the disks with the Inbox and with the state.
struct DiskCheck: DoctorCheck {
    let name = "disk"

    /// The figures of a file system.
    struct Space: Hashable {
        var size: UInt64
        var free: UInt64
        /// Nil if the file system does not count entries.
        var freeEntries: UInt64?
    }

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard let home = scene.home else { return [] }
        var devices: Set<UInt64> = []
        return [("the Inbox", home.inbox), ("the state", home.state)].compactMap { what, path in
            let place = Self.existing(path)
            var (status, space) = (stat(), statvfs())
            guard stat(place, &status) == 0, statvfs(place, &space) == 0 else { return nil }
            guard devices.insert(UInt64(status.st_dev)).inserted else { return nil }
            return Self.finding(
                Space(
                    size: UInt64(space.f_blocks) * UInt64(space.f_frsize),
                    free: UInt64(space.f_bavail) * UInt64(space.f_frsize),
                    freeEntries: space.f_files == 0 ? nil : UInt64(space.f_favail)),
                reserve: scene.settings.reserve, of: "the disk of \(what) (\(place))")
        }
    }

    /// - Parameter what: the disk, in words.
    static func finding(_ space: Space, reserve: DiskReserve, of what: String) -> DoctorFinding {
        let kept = reserve.bytes(ofFileSystem: space.size)
        let figures = "\(ByteCount.text(space.free)) of \(ByteCount.text(space.size)) are free"
        let hint = "remove files, or make the setting reserve smaller"
        if space.freeEntries == 0 {
            return .problem("\(what) has no place for another file", hint: "remove files")
        }
        guard space.free > kept else {
            return .problem(
                "\(what) is full: \(figures), and Waft leaves \(ByteCount.text(kept)) to others; offers are refused",
                hint: hint)
        }
        guard space.free - kept > space.size / 50 else {
            return .warning("\(what) is nearly full: \(figures)", hint: hint)
        }
        return .ok("\(what): \(figures)")
    }

    /// The path itself, or the nearest folder above it that exists.
    private static func existing(_ path: String) -> String {
        var path = path
        while access(path, F_OK) != 0, path != "/" { path = SmallFile.folder(of: path) }
        return path
    }
}
