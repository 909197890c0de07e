import Control
import Endpoints
import Foundation
import Glibc
import Inbox
import Journal
import Lines
import Receiving
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

/// The settings of the file and of the environment.
struct SettingsCheck: DoctorCheck {
    let name = "settings"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.isTrusted, let home = scene.home else { return [] }
        if let fault = scene.settingsFault {
            return [.problem(fault, hint: "correct it; until then no command works, and no receiver starts")]
        }
        let faults = SettingsJudge(home).faults(of: scene.settings)
        guard faults.isEmpty else {
            return faults.map { fault in
                .problem(
                    fault.text,
                    hint: fault.hint
                        ?? (fault.kind == .file
                            ? "correct it; until then no receiver starts" : "bring it back, or change it"))
            }
        }
        if scene.settings.accept == .none {
            return [
                .warning(
                    "accept is none: every offer that no rule and no contact's policy accepts is declined",
                    hint: "set accept to ask in \(home.configurationFile)")
            ]
        }
        return [.ok(home.configurationFile)]
    }
}

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
        LineTime(milliseconds: Int64(seconds) * 1_000).text
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

/// The folder of the Inbox: whether it is the known one, and can be written.
struct InboxCheck: DoctorCheck {
    let name = "inbox"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard let home = scene.home else { return [] }
        do {
            try home.checkInboxTrust()
        } catch {
            return [.problem(error.description, hint: "nothing is stored where others could change it")]
        }
        let known =
            scene.isTrusted ? try? JournalReader(folder: home.state, dialects: .known).knownInbox(at: home.inbox) : nil
        if let known, InboxLook.isAnother(at: home.inbox, than: known) {
            return [
                .problem(
                    "\(home.inbox) is not the Inbox that was there before; is its disk mounted?",
                    hint: "mount the disk; or, to use the folder that is there now: waft inbox adopt")
            ]
        }
        // Waft works in the folder above the Inbox too, and makes missing folders.
        for path in [home.inbox, SmallFile.folder(of: home.inbox)] where access(path, F_OK) == 0 {
            if let fault = InboxLook.writeFault(at: path) {
                return [
                    .problem(
                        "\(path) cannot be written: \(fault)",
                        hint: fault.number == EROFS
                            ? "mount its disk for writing; a fault of the disk may have made it read-only: see dmesg"
                            : "give yourself the right: chmod u+rwx \(ShellWord.quoted(path))")
                ]
            }
        }
        if let fault = scene.status?.inboxFault {
            return [.problem("the receiver cannot use \(home.inbox): \(fault)", hint: "see: waft status")]
        }
        return [Self.finding(DiskAbilities.ofInbox(at: home.inbox), inbox: home.inbox)]
    }

    /// One line: the abilities that the disk of the Inbox lacks, and the consequences.
    static func finding(_ abilities: DiskAbilities, inbox: String) -> DoctorFinding {
        let remarks = abilities.remarks
        guard !abilities.refusing.isEmpty else {
            return .ok(inbox + (remarks.isEmpty ? "" : "; its disk " + remarks.joined(separator: ", ")))
        }
        let lacks = abilities.refusing.joined(separator: ", ")
        return .warning(
            "the disk of \(inbox) \(lacks): what needs that is refused"
                + (remarks.isEmpty ? "" : "; it " + remarks.joined(separator: ", ")),
            hint: "let senders rename such items or pack them (zip, tar), or have the Inbox on another disk")
    }
}
