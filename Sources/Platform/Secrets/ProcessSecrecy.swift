import CLinuxShims
private import Synchronization

/// Keeps the user's other programs from looking into this process, which has private keys or contents that it seals.
///
/// Memory of more than 1 KiB is overwritten when it is given back: no buffer of contents outlives its transfer.
///
/// The process cannot be traced, its memory cannot be read, and it leaves no core dump. /proc then gives its files to
/// root: only world-readable ones, such as `stat` and `cmdline`, are readable for the user's programs.
package enum ProcessSecrecy {
    /// The values of before; nil while others may look.
    private static let before = Mutex<(dumpable: Int32, coreBytes: UInt64)?>(nil)

    /// The byte with which malloc overwrites; any but 0.
    private static let overwriting: Int32 = 0xA5

    /// No core dump of this process, which others may still look into.
    package static func dumpNoCore() {
        var (soft, hard): (UInt64, UInt64) = (0, 0)
        guard CLinuxShims_getrlimit(CLinuxShims_RLIMIT_CORE, &soft, &hard) == 0 else { return }
        _ = CLinuxShims_setrlimit(CLinuxShims_RLIMIT_CORE, 0, hard)
    }

    /// Nothing fails if the kernel refuses.
    package static func use(_ isSecret: Bool) {
        before.withLock { before in
            var (soft, hard): (UInt64, UInt64) = (0, 0)
            guard CLinuxShims_getrlimit(CLinuxShims_RLIMIT_CORE, &soft, &hard) == 0 else { return }
            switch (isSecret, before) {
            case (true, nil):
                before = (CLinuxShims_dumpable(), soft)
                _ = CLinuxShims_set_dumpable(0)
                CLinuxShims_overwrite_freed(Self.overwriting)
                _ = CLinuxShims_setrlimit(CLinuxShims_RLIMIT_CORE, 0, hard)
            case (false, let values?):
                before = nil
                _ = CLinuxShims_set_dumpable(values.dumpable)
                CLinuxShims_overwrite_freed(0)
                _ = CLinuxShims_setrlimit(CLinuxShims_RLIMIT_CORE, values.coreBytes, hard)
            case (true, _?), (false, nil): break
            }
        }
    }
}
