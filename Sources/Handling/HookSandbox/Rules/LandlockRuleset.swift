import CLinuxShims
import Glibc

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
