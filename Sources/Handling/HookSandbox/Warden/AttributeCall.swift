import CLinuxShims
import Glibc

/// A system call that changes the mode, owner, times or a label (extended attribute) of a file, with its arguments. The
/// addresses are those of the calling program.
struct AttributeCall: Hashable, Sendable {
    /// The file to change.
    enum Target: Hashable, Sendable {
        /// The open file of this descriptor.
        case open(Int32)
        /// - Parameters:
        ///   - folder: the descriptor that a relative path starts from, or AT_FDCWD.
        ///   - canBeEmpty: whether an empty path means the open file of `folder`.
        case path(UInt64, folder: Int32, followsLink: Bool, canBeEmpty: Bool)
    }

    /// The form in which times are written in memory.
    enum TimeFormat: Hashable, Sendable {
        /// `struct timespec[2]`
        case nanoseconds
        /// `struct timeval[2]`
        case microseconds
        /// `struct utimbuf`
        case seconds
    }

    enum Change: Hashable, Sendable {
        case mode(UInt32)
        case owner(user: UInt32, group: UInt32)
        /// - Parameter address: 0 for the current time.
        case times(UInt64, TimeFormat)
        case setLabel(name: UInt64, value: UInt64, size: UInt64, flags: Int32)
        case removeLabel(name: UInt64)
    }

    let target: Target
    let change: Change

    private static let currentFolder: Int32 = -100  // AT_FDCWD
    private static let noFollow: UInt64 = 0x100  // AT_SYMLINK_NOFOLLOW
    private static let emptyPath: UInt64 = 0x1000  // AT_EMPTY_PATH

    /// - Parameters:
    ///   - name: the name of the system call.
    ///   - arguments: its six arguments.
    /// - Returns: nil for an unknown call or unknown flags.
    init?(_ name: String, _ arguments: [UInt64]) {
        guard arguments.count == 6 else { return nil }
        let first = Int32(truncatingIfNeeded: arguments[0])
        func word(_ index: Int) -> UInt32 { UInt32(truncatingIfNeeded: arguments[index]) }
        func path(_ followsLink: Bool = true) -> Target {
            .path(arguments[0], folder: Self.currentFolder, followsLink: followsLink, canBeEmpty: false)
        }
        func pathAt(flags: UInt64 = 0) -> Target? {
            guard flags & 0xffff_ffff & ~(Self.noFollow | Self.emptyPath) == 0 else { return nil }
            return .path(
                arguments[1], folder: first, followsLink: flags & Self.noFollow == 0,
                canBeEmpty: flags & Self.emptyPath != 0)
        }
        let label = Change.setLabel(
            name: arguments[1], value: arguments[2], size: arguments[3], flags: Int32(truncatingIfNeeded: arguments[4]))
        let found: (target: Target?, change: Change)
        switch name {
        case "chmod": found = (path(), .mode(word(1)))
        case "fchmod": found = (.open(first), .mode(word(1)))
        case "fchmodat": found = (pathAt(), .mode(word(2)))
        case "fchmodat2": found = (pathAt(flags: arguments[3]), .mode(word(2)))
        case "chown": found = (path(), .owner(user: word(1), group: word(2)))
        case "lchown": found = (path(false), .owner(user: word(1), group: word(2)))
        case "fchown": found = (.open(first), .owner(user: word(1), group: word(2)))
        case "fchownat": found = (pathAt(flags: arguments[4]), .owner(user: word(2), group: word(3)))
        case "utime": found = (path(), .times(arguments[1], .seconds))
        case "utimes": found = (path(), .times(arguments[1], .microseconds))
        case "futimesat":
            found = (arguments[1] == 0 ? .open(first) : pathAt(), .times(arguments[2], .microseconds))
        case "utimensat":
            found = (
                arguments[1] == 0 ? .open(first) : pathAt(flags: arguments[3]), .times(arguments[2], .nanoseconds)
            )
        case "setxattr": found = (path(), label)
        case "lsetxattr": found = (path(false), label)
        case "fsetxattr": found = (.open(first), label)
        case "removexattr": found = (path(), .removeLabel(name: arguments[1]))
        case "lremovexattr": found = (path(false), .removeLabel(name: arguments[1]))
        case "fremovexattr": found = (.open(first), .removeLabel(name: arguments[1]))
        default: return nil
        }
        guard let target = found.target else { return nil }
        self.target = target
        change = found.change
    }
}
