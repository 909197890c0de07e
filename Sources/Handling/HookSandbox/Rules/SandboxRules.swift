import CLinuxShims
import Glibc

/// Permanently takes rights from the calling thread, according to a plan.
enum SandboxRules {
    /// Maximum number of entries allowed one by one, per folder that contains a forbidden place.
    private static let maximumEntries = 4096

    /// - Returns: the descriptor on which the warden answers calls that change modes, owners, times and labels; -1 if
    ///   the kernel has none. The caller owns it.
    /// - Throws: `SandboxError` if the rules that the plan needs are not in force. Rights already taken stay taken.
    static func restrict(by plan: SandboxPlan) throws(SandboxError) -> Int32 {
        let support = HookSandbox.landlock
        let abi = max(0, min(support.abi, plan.newestABI ?? support.abi))
        if plan.level == .require, abi == 0 {
            let reason = if case .unavailable(let reason) = support { reason } else { "the plan forbids it" }
            throw .notRestricted("it requires Landlock, which is not available: \(reason)")
        }
        try limit(by: plan.limits)
        // Without capabilities, a hook of root has only the rights of an ordinary user.
        guard CLinuxShims_no_new_privileges() == 0, CLinuxShims_drop_capabilities() == 0 else {
            throw .notRestricted("privileges could not be given up: \(SandboxError.lastCause)")
        }
        if abi > 0 { try restrictFiles(by: plan, abi: abi) }
        return try SystemCallFilter.hook(plan).installWithListener()
    }

    private static func limit(by limits: ResourceLimits) throws(SandboxError) {
        try lower(CLinuxShims_RLIMIT_CORE, soft: limits.coreBytes, hard: limits.coreBytes)
        try lower(CLinuxShims_RLIMIT_NOFILE, soft: limits.openFiles, hard: limits.maximumOpenFiles)
    }

    /// Call it last: this process itself may need more memory than the hook gets.
    static func limitMemory(by limits: ResourceLimits) throws(SandboxError) {
        guard let bytes = limits.memoryBytes else { return }
        try lower(CLinuxShims_RLIMIT_AS, soft: bytes, hard: bytes)
    }

    private static func lower(_ resource: Int32, soft: UInt64, hard: UInt64) throws(SandboxError) {
        var oldSoft: UInt64 = 0
        var oldHard: UInt64 = 0
        guard CLinuxShims_getrlimit(resource, &oldSoft, &oldHard) == 0,
            CLinuxShims_setrlimit(resource, min(soft, oldSoft, hard), min(hard, oldHard)) == 0
        else { throw .notRestricted("a resource limit was refused: \(SandboxError.lastCause)") }
    }

    // MARK: Files

    private static func restrictFiles(by plan: SandboxPlan, abi: Int) throws(SandboxError) {
        let rules = try LandlockRuleset.make(abi: abi, allowsNetwork: plan.allowsNetwork)
        // Missing places hold nothing to protect.
        let forbidden = plan.forbiddenPlaces.compactMap { try? OpenPath.make($0).path }
        let inbox = try OpenPath.make(plan.inbox)
        // The Inbox may be inside a forbidden place: programs that may not see the Inbox get an empty folder there.
        if let covered = forbidden.first(where: { inbox.contains($0) }) {
            throw .notRestricted("\(plan.inbox) contains \(covered), which is closed to handlers")
        }
        try allow(.inbox, inbox, plan.inbox, rules)
        // They may be inside a forbidden place, and hold nothing else.
        for folder in plan.copyFolders { try allow(.inbox, OpenPath.make(folder), folder, rules) }

        let bundle = try OpenPath.make(plan.bundle)
        if let covered = forbidden.first(where: { bundle.contains($0) && bundle.path != $0 }) {
            throw .notRestricted("\(plan.bundle) contains \(covered), which is closed to every handler")
        }
        try allow(.readable, bundle, plan.bundle, rules)
        // If the file is missing or no program, executing it reports that.
        if let executable = try? OpenPath.make(plan.executable), !executable.isFolder {
            try allow(.readable, executable, plan.executable, rules)
        }
        for path in plan.readablePaths {
            let place = try OpenPath.make(path)
            try refuseOverlap(place, path, forbidden)
            try allow(.readable, place, path, rules)
        }
        for (path, isNamed) in [(plan.dataFolder, false), (plan.temporaryFolder, false)]
            + plan.writablePaths.map({ ($0, true) })
        {
            let place = try OpenPath.make(path)
            if isNamed { try refuseOverlap(place, path, forbidden) }
            // Rules only add: one that covers the Inbox, or a part of it, would undo those for the Inbox.
            guard !inbox.contains(place), !place.contains(inbox) else {
                throw .notRestricted("\(path) is in the Inbox or contains it, and so cannot be writable")
            }
            // The bundle grants the handler's rights, so the handler may not write there.
            if isNamed, bundle.isFolder { try refuseOverlap(place, path, [bundle.path]) }
            try allow(.writable, place, path, rules)
        }
        for (path, _) in SystemPaths.readable { try allowSystem(path, forbidden, rules) }
        for path in SystemPaths.devices {
            if let place = try? OpenPath.make(path) { try allow(.device, place, path, rules) }
        }
        allowStreams(rules)
        try rules.restrictThisThread()
    }

    private static func allow(
        _ rights: LandlockRights, _ place: borrowing OpenPath, _ path: String, _ rules: borrowing LandlockRuleset
    ) throws(SandboxError) {
        guard rules.allow(rights, beneath: place.file) else {
            throw .notRestricted("no rule for \(path): \(SandboxError.lastCause)")
        }
    }

    /// - Throws: `SandboxError` if the place equals, contains or is inside a forbidden one.
    private static func refuseOverlap(
        _ place: borrowing OpenPath, _ path: String, _ forbidden: [String]
    ) throws(SandboxError) {
        for closed in forbidden where place.contains(closed) || place.isIn(closed) {
            throw .notRestricted("\(path) and \(closed) overlap, and \(closed) is closed to handlers")
        }
    }

    /// Makes a part of the system readable. If it contains a forbidden place, its other entries are allowed one by one:
    /// rules only add rights, and none could close the forbidden place again.
    private static func allowSystem(
        _ path: String, _ forbidden: [String], _ rules: borrowing LandlockRuleset
    ) throws(SandboxError) {
        guard let place = try? OpenPath.make(path) else { return }
        if forbidden.contains(where: { place.isIn($0) }) { return }
        guard forbidden.contains(where: { place.contains($0) }) else {
            try allow(.readable, place, path, rules)
            return
        }
        guard let folder = opendir("/proc/self/fd/\(place.file)") else { return }
        defer { closedir(folder) }
        for _ in 0..<maximumEntries {
            guard let entry = readdir(folder) else { return }
            let name = String(cString: CLinuxShims_dirent_name(entry))
            // The rule for a link's target decides.
            if name != ".", name != "..", entry.pointee.d_type != DT_LNK {
                try allowSystem(place.path + "/" + name, forbidden, rules)
            }
        }
    }

    /// Open streams work without a rule; these rules allow `> /dev/stderr` to open one again. Pipes and sockets need no
    /// rule, and the kernel takes none.
    private static func allowStreams(_ rules: borrowing LandlockRuleset) {
        for stream: Int32 in 0...2 {
            let mode = fcntl(stream, F_GETFL)
            guard mode >= 0 else { continue }
            var rights: LandlockRights = []
            if mode & O_ACCMODE != O_WRONLY { rights.insert(.read) }
            if mode & O_ACCMODE != O_RDONLY { rights.formUnion([.write, .truncate, .control]) }
            _ = rules.allow(rights.intersection(.ofFile), beneath: stream)
        }
    }
}

/// A set of Landlock rules: closed on deinit, in force only after ``restrictThisThread()``.
struct LandlockRuleset: ~Copyable {
    /// Owned.
    private let file: Int32
    /// The rights that it denies unless a rule allows them.
    private let handled: LandlockRights

    private init(owning file: Int32, handled: LandlockRights) {
        self.file = file
        self.handled = handled
    }

    deinit { close(file) }

    /// Denies all rights over files that the version of the ABI knows. Denies TCP unless the network is allowed (ABI
    /// 4), and signals and abstract sockets out of the sandbox (ABI 6).
    static func make(abi: Int, allowsNetwork: Bool) throws(SandboxError) -> LandlockRuleset {
        let handled = LandlockRights.known(abi: abi)
        let file = CLinuxShims_landlock_create_ruleset(
            handled.rawValue,
            abi >= 4 && !allowsNetwork ? CLinuxShims_LANDLOCK_TCP : 0,
            abi >= 6 ? CLinuxShims_LANDLOCK_SCOPE : 0)
        guard file >= 0 else { throw .notRestricted("no set of rules: \(SandboxError.lastCause)") }
        return LandlockRuleset(owning: file, handled: handled)
    }

    /// Allows the rights, as far as the kernel knows them and the place can have them, at and beneath an open file.
    ///
    /// - Parameter place: borrowed; O_PATH is enough.
    /// - Returns: whether the kernel took the rule; `errno` is set if not.
    func allow(_ rights: LandlockRights, beneath place: Int32) -> Bool {
        var status = stat()
        guard fstat(place, &status) == 0 else { return false }
        var allowed = rights.intersection(handled)
        if status.st_mode & S_IFMT != S_IFDIR { allowed.formIntersection(.ofFile) }
        // The kernel takes no rule without a right.
        guard !allowed.isEmpty else { return true }
        return CLinuxShims_landlock_allow_beneath(file, place, allowed.rawValue) == 0
    }

    /// Puts the rules into force permanently for the calling thread and everything that it starts or executes.
    func restrictThisThread() throws(SandboxError) {
        guard CLinuxShims_landlock_restrict_self(file) == 0 else {
            throw .notRestricted("the rules were refused: \(SandboxError.lastCause)")
        }
    }
}

/// The parts of the system that every hook can read, because ordinary programs need them. Users neither write them nor
/// keep files there. Missing ones are skipped.
enum SystemPaths {
    /// Folders and files, with the reason for each.
    static let readable: [(path: String, reason: String)] = [
        ("/usr", "programs, libraries and their data"),
        ("/bin", "programs, where it is no link to /usr"),
        ("/sbin", "programs, where it is no link to /usr"),
        ("/lib", "libraries, where it is no link to /usr"),
        ("/lib32", "libraries, where it is no link to /usr"),
        ("/lib64", "libraries, where it is no link to /usr"),
        ("/libx32", "libraries, where it is no link to /usr"),
        ("/etc", "settings of programs, users' names, certificates"),
        ("/opt", "programs that came without the distribution"),
        ("/nix", "programs of NixOS and Nix"),
        ("/gnu", "programs of Guix"),
        ("/snap", "programs of snapd"),
        ("/var/lib/snapd", "libraries and fonts of snapd"),
        ("/var/lib/flatpak", "programs of Flatpak, their types and icons"),
        ("/var/lib/ca-certificates", "certificates of openSUSE"),
        ("/var/lib/dbus/machine-id", "the machine's number, read by the libraries of desktops"),
        ("/var/lib/texmf", "formats and fonts of TeX"),
        ("/var/lib/ghostscript", "fonts of Ghostscript"),
        ("/var/lib/aspell", "dictionaries"),
        ("/var/lib/dictionaries-common", "dictionaries"),
        ("/var/cache/fontconfig", "the list of fonts"),
        ("/var/cache/fonts", "fonts of TeX"),
        ("/run/current-system", "programs of NixOS and Guix"),
        ("/run/opengl-driver", "libraries of NixOS"),
        ("/run/systemd/resolve", "name servers; /etc/resolv.conf leads there"),
        ("/run/NetworkManager/resolv.conf", "name servers; /etc/resolv.conf leads there"),
        ("/run/resolvconf", "name servers; /etc/resolv.conf leads there"),
        ("/proc", "a process about itself; about others only what no debugger is needed for"),
        ("/sys/devices/system", "number and kinds of processors"),
        ("/sys/fs/cgroup", "limits of the service or container"),
        ("/sys/kernel/mm", "sizes of pages"),
    ]

    /// Devices that every hook can read and write, because they store nothing.
    static let devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"]
}
