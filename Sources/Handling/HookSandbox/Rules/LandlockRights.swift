import CLinuxShims

/// Rights over files and folders, `LANDLOCK_ACCESS_FS_…`.
struct LandlockRights: OptionSet, Hashable, Sendable {
    let rawValue: UInt64

    /// The right to open a file for reading, and to list a folder.
    static let read = LandlockRights(rawValue: CLinuxShims_LANDLOCK_READ_FILE | CLinuxShims_LANDLOCK_READ_DIR)
    /// The right to execute a file.
    static let execute = LandlockRights(rawValue: CLinuxShims_LANDLOCK_EXECUTE)
    /// The right to open a file for writing.
    static let write = LandlockRights(rawValue: CLinuxShims_LANDLOCK_WRITE_FILE)
    /// The right to truncate a file, ABI 3.
    static let truncate = LandlockRights(rawValue: CLinuxShims_LANDLOCK_TRUNCATE)
    /// The right to control a device, ABI 5.
    static let control = LandlockRights(rawValue: CLinuxShims_LANDLOCK_IOCTL_DEV)
    /// The right to link or move an entry from or to another folder, ABI 2. Without it both are denied.
    static let refer = LandlockRights(rawValue: CLinuxShims_LANDLOCK_REFER)
    /// The right to remove the contents of a folder, or to move them away.
    static let remove = LandlockRights(
        rawValue: CLinuxShims_LANDLOCK_REMOVE_FILE | CLinuxShims_LANDLOCK_REMOVE_DIR)
    /// The right to make anything except devices in a folder, by creation, link or move.
    static let make = LandlockRights(
        rawValue: CLinuxShims_LANDLOCK_MAKE_REG | CLinuxShims_LANDLOCK_MAKE_DIR | CLinuxShims_LANDLOCK_MAKE_SYM
            | CLinuxShims_LANDLOCK_MAKE_FIFO | CLinuxShims_LANDLOCK_MAKE_SOCK)
    /// The right to make a device in a folder. No hook gets it: through a device root reaches the disk itself.
    static let makeDevice = LandlockRights(
        rawValue: CLinuxShims_LANDLOCK_MAKE_CHAR | CLinuxShims_LANDLOCK_MAKE_BLOCK)

    /// The rights of a hook in its readable places.
    static let readable: LandlockRights = [.read, .execute]
    /// The rights of a hook in its writable places.
    static let writable: LandlockRights = [.read, .execute, .write, .truncate, .control, .refer, .remove, .make]
    /// The rights of a hook over the contents of the Inbox. Received files are not executed.
    static let inbox: LandlockRights = [.read, .remove, .refer]
    /// The rights of a hook over devices that store nothing.
    static let device: LandlockRights = [.read, .write, .truncate, .control]
    /// The rights that a file, not a folder, can be given; the kernel refuses the others.
    static let ofFile: LandlockRights = [
        LandlockRights(rawValue: CLinuxShims_LANDLOCK_READ_FILE), .execute, .write, .truncate, .control,
    ]

    /// Every right that the kernel of this version of the ABI knows; it refuses the others.
    static func known(abi: Int) -> LandlockRights {
        guard abi >= 1 else { return [] }
        var rights: LandlockRights = [.read, .execute, .write, .remove, .make, .makeDevice]
        if abi >= 2 { rights.insert(.refer) }
        if abi >= 3 { rights.insert(.truncate) }
        if abi >= 5 { rights.insert(.control) }
        return rights
    }
}
