import CLinuxShims
import Glibc

/// Takes rights from the calling thread, for good, as a plan says.
enum SandboxRules {
    /// Devices that every program may write: nothing is kept by them.
    private static let devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"]

    /// - Throws: `SandboxError` where the rules that the plan needs are not in force. What was taken stays taken.
    static func restrict(by plan: SandboxPlan) throws(SandboxError) {
        let support = HookSandbox.support
        let abi = max(0, min(support.abi, plan.newestABI ?? support.abi))
        if plan.level == .require, abi == 0 {
            let reason = if case .unavailable(let reason) = support { reason } else { "the plan forbids it" }
            throw .notRestricted("it requires Landlock, which is not there: \(reason)")
        }
        try limit(by: plan.limits)
        guard CLinuxShims_no_new_privileges() == 0 else {
            throw .notRestricted("privileges could not be given up: \(SandboxError.lastCause)")
        }
        if abi > 0 { try restrictFiles(by: plan, abi: abi) }
    }

    private static func limit(by limits: ResourceLimits) throws(SandboxError) {
        try lower(CLinuxShims_RLIMIT_CORE, soft: limits.coreBytes, hard: limits.coreBytes)
        try lower(CLinuxShims_RLIMIT_NOFILE, soft: limits.openFiles, hard: limits.mostOpenFiles)
    }

    private static func lower(_ resource: Int32, soft: UInt64, hard: UInt64) throws(SandboxError) {
        var oldSoft: UInt64 = 0
        var oldHard: UInt64 = 0
        guard CLinuxShims_getrlimit(resource, &oldSoft, &oldHard) == 0,
            CLinuxShims_setrlimit(resource, min(soft, oldSoft, hard), min(hard, oldHard)) == 0
        else { throw .notRestricted("a resource limit was refused: \(SandboxError.lastCause)") }
    }

    private static func restrictFiles(by plan: SandboxPlan, abi: Int) throws(SandboxError) {
        let rules = try LandlockRuleset.make(abi: abi)
        let inbox = try OpenPlace.make(plan.inbox)
        guard rules.allow(.inbox, beneath: inbox.file) else { throw refused(plan.inbox) }
        for path in [plan.folder, plan.temporaryFolder] + plan.writablePaths {
            let place = try OpenPlace.make(path)
            // Rules only add: one that covers the Inbox, or a part of it, would undo those for the Inbox.
            guard !inbox.contains(place), !place.contains(inbox) else {
                throw .notRestricted("\(path) is in the Inbox or contains it, and so cannot be writable")
            }
            guard rules.allow(.writable, beneath: place.file) else { throw refused(path) }
        }
        for path in devices {
            guard let place = try? OpenPlace.make(path) else { continue }
            guard rules.allow(.ofFile, beneath: place.file) else { throw refused(path) }
        }
        for stream: Int32 in 0...2 {
            // What is open works in any case; this lets `> /dev/stderr` open it once more. Pipes and sockets need no
            // rule, and take none.
            let mode = fcntl(stream, F_GETFL)
            guard mode >= 0, mode & O_ACCMODE != O_RDONLY else { continue }
            _ = rules.allow(.ofFile, beneath: stream)
        }
        try rules.restrictThisThread()
    }

    private static func refused(_ path: String) -> SandboxError {
        .notRestricted("no rule for \(path): \(SandboxError.lastCause)")
    }
}

/// A file or folder that a rule is about, open without the right to read or write, and closed when it is let go.
private struct OpenPlace: ~Copyable {
    /// Owned.
    let file: Int32
    /// Where it is, with no link in it: of the open file, so that nothing can be changed between the look and the rule.
    private let path: String

    private init(owning file: Int32, path: String) {
        self.file = file
        self.path = path
    }

    deinit { close(file) }

    static func make(_ path: String) throws(SandboxError) -> OpenPlace {
        let file = CLinuxShims_open_place(path)
        guard file >= 0 else { throw .notRestricted("\(path): \(SandboxError.lastCause)") }
        guard let real = realpath("/proc/self/fd/\(file)", nil) else {
            let cause = SandboxError.lastCause
            close(file)
            throw .notRestricted("\(path): \(cause)")
        }
        defer { free(real) }
        return OpenPlace(owning: file, path: String(cString: real))
    }

    func contains(_ other: borrowing OpenPlace) -> Bool {
        other.path == path || path == "/" || other.path.utf8.starts(with: (path + "/").utf8)
    }
}
