import CLinuxShims
import Glibc

/// What this kernel can do for the sandbox of hooks.
///
/// What these rules do not deny, and so a hook can do wherever the user can: to change modes, owners, times and
/// attributes of files; to signal processes; to connect to sockets, and by them ask another program to write.
package enum HookSandbox {
    /// Whether Landlock is there, and which of it.
    package enum Support: Hashable, Sendable, CustomStringConvertible {
        /// Landlock, with this version of its ABI, from 1.
        case landlock(abi: Int)
        /// No Landlock, and why.
        case unavailable(reason: String)

        /// The version of the ABI, 0 for none.
        package var abi: Int {
            switch self {
            case .landlock(let abi): abi
            case .unavailable: 0
            }
        }

        /// One line for the status, with what the version does not cover.
        package var description: String {
            switch self {
            case .landlock(let abi) where abi < 2:
                "Landlock ABI \(abi): hooks cannot move files between folders, and can truncate files anywhere"
            case .landlock(let abi) where abi < 3: "Landlock ABI \(abi): hooks can truncate files anywhere"
            case .landlock(let abi): "Landlock ABI \(abi)"
            case .unavailable(let reason): "no Landlock (\(reason)): hooks can write wherever you can"
            }
        }
    }

    /// Asked of the kernel each time.
    package static var support: Support {
        let abi = CLinuxShims_landlock_abi()
        if abi > 0 { return .landlock(abi: Int(abi)) }
        return switch errno {
        case ENOSYS: .unavailable(reason: "this kernel was built without it")
        case EOPNOTSUPP: .unavailable(reason: "it was not enabled when the system started; see the boot option lsm=")
        case EPERM: .unavailable(reason: "the container or service that Waft runs in forbids it")
        default: .unavailable(reason: SandboxError.lastCause)
        }
    }
}
