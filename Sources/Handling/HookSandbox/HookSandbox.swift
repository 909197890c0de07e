import CLinuxShims
import Glibc

/// The features of this kernel for the sandbox of hooks.
package enum HookSandbox {
    /// Whether the kernel has Landlock, and which version.
    package enum Landlock: Hashable, Sendable {
        /// With this version of its ABI, from 1.
        case abi(Int)
        /// Missing, with the reason.
        case unavailable(reason: String)

        /// The version of the ABI, 0 for none.
        var abi: Int {
            switch self {
            case .abi(let abi): abi
            case .unavailable: 0
            }
        }
    }

    /// Whether system calls can be filtered.
    package enum Filter: Hashable, Sendable {
        /// The warden can be asked to change modes, owners, times and labels.
        case asking
        /// Calls can be refused, but not passed to the warden.
        case refusing(reason: String)
        case unavailable(reason: String)
    }

    /// The parts of the sandbox that this kernel enforces.
    package struct Support: Hashable, Sendable, CustomStringConvertible {
        let landlock: Landlock
        let filter: Filter

        /// Describes a kernel with these parts.
        package init(landlock: Landlock, filter: Filter) {
            self.landlock = landlock
            self.filter = filter
        }

        /// The version of Landlock's ABI, 0 for none.
        package var abi: Int { landlock.abi }

        /// The missing rules, as phrases that follow "handlers"; empty if the kernel enforces all.
        package var gaps: [String] {
            var gaps: [String] = []
            switch landlock {
            case .unavailable: gaps.append("can read and write wherever you can, and signal your other programs")
            case .abi(let abi):
                if abi < 2 { gaps.append("cannot move files between folders") }
                if abi < 3 { gaps.append("can truncate files anywhere") }
                if abi < 6 { gaps.append("can signal your other programs") }
            }
            switch filter {
            case .asking: break
            case .refusing: gaps.append("can change modes, times and labels of your files anywhere")
            case .unavailable:
                gaps.append(
                    "can use the network and sockets, and change modes, times and labels of your files anywhere")
            }
            return gaps
        }

        /// One line: the existing parts, why others are missing, and the rules that are therefore not enforced.
        package var description: String {
            var parts: [String] = []
            switch landlock {
            case .abi(let abi): parts.append("Landlock ABI \(abi)")
            case .unavailable(let reason): parts.append("no Landlock (\(reason))")
            }
            switch filter {
            case .asking: parts.append("seccomp")
            case .refusing(let reason): parts.append("seccomp without notification (\(reason))")
            case .unavailable(let reason): parts.append("no seccomp (\(reason))")
            }
            let line = parts.joined(separator: ", ")
            return gaps.isEmpty ? line : line + ": handlers " + gaps.joined(separator: "; ")
        }
    }

    /// Asks the kernel about Landlock each time, about seccomp once.
    package static var support: Support { Support(landlock: landlock, filter: filter) }

    static var landlock: Landlock {
        let abi = CLinuxShims_landlock_abi()
        if abi > 0 { return .abi(Int(abi)) }
        return switch errno {
        case ENOSYS: .unavailable(reason: "this kernel was built without it")
        case EOPNOTSUPP: .unavailable(reason: "it was not enabled when the system started; see the boot option lsm=")
        case EPERM: .unavailable(reason: "the container or service that Waft runs in forbids it")
        default: .unavailable(reason: SandboxError.lastCause)
        }
    }

    private static let filter: Filter = {
        guard SystemCallFilter.isKnown else { return .unavailable(reason: "not known on this architecture") }
        let cause = CLinuxShims_seccomp_probe()
        return switch cause {
        case 0: .asking
        case EBUSY: .refusing(reason: "the container that Waft runs in uses it itself")
        case EINVAL: .refusing(reason: "this kernel is older than 5.0")
        case ENOSYS: .unavailable(reason: "this kernel was built without it")
        default: .refusing(reason: SandboxError.cause(cause))
        }
    }()
}
