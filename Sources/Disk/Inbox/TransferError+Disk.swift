import Glibc
import Sharing
import SystemCalls

extension TransferError {
    /// - Parameters:
    ///   - what: the step that failed, such as "cannot write".
    ///   - path: the path concerned; for people.
    ///   - disk: a file on the file system in question, for the figures.
    static func disk(_ what: String, _ path: String, _ error: SystemError, on disk: Int32) -> TransferError {
        switch error.number {
        case ENOSPC, EDQUOT, EFBIG:
            var free = (try? DiskRoom.free(onFileSystemOf: disk)).map { "\(ByteCount.text($0)) free" } ?? "disk full"
            if (try? DiskRoom.freeEntries(onFileSystemOf: disk)) == 0 { free = "no free inodes" }
            return TransferError(.noRoom, "\(what) \(path): \(error) (\(free)); make room and send it again")
        case EROFS:
            return TransferError(.storage, "\(what) \(path): \(error); mount it writable and send it again")
        case EMFILE, ENFILE:
            return TransferError(.storage, "\(what) \(path): \(error)")
        default:
            return TransferError(.storage, "\(what) \(path): \(error); check the disk that holds the Inbox")
        }
    }

    /// For an Inbox that can store nothing now. Senders see the message, so it has no path.
    static func unreachable(_ error: SystemError) -> TransferError {
        let why =
            switch error.number {
            case EROFS: "its file system is read-only"
            case EXDEV:
                "it is on another disk than when the receiver started; mount the first disk, or restart the receiver"
            case EBUSY: "its disk was mounted again, and earlier transfers have not ended; try again"
            case ENOENT: "it does not exist, and cannot be made"
            case ENOTDIR: "its path is not a folder"
            default: "\(error)"
            }
        return TransferError(.storage, "the Inbox cannot be used: \(why)")
    }

    /// For something that is to be created at `path` in a tree.
    /// - Parameter isSealed: whether the tree is sealed.
    static func creating(
        _ what: String, _ path: String, _ error: SystemError, in staging: StagingFolder, isSealed: Bool = false
    ) -> TransferError {
        let (abilities, disk) = (staging.abilities, DiskAbilities.inboxDisk)
        // The error alone says nothing: some file systems answer ENOENT to a name that they do not take.
        if let refusal = abilities.refusal(ofName: PathText.lastName(of: path), by: disk) {
            return TransferError(.unsafeName, "\(what) \(path): \(refusal)")
        }
        return switch error.number {
        case EEXIST where !abilities.tellsCase:
            TransferError(
                .unsafeName,
                "\(what) \(path): \(DiskAbilities.noCase(disk)), and a name that is otherwise the same is taken")
        case EEXIST where isSealed:
            // As with a file `a` beside a folder `a.age`.
            TransferError(
                .unsafeName,
                "\(what) \(path): sealed files get the ending \(SealedName.ending), and that name is taken")
        case EEXIST:
            TransferError(.unsafeName, "\(what) \(path): an item of that name was received already")
        case ENOENT, ENOTDIR, ELOOP, EXDEV:
            TransferError(.unsafeName, "\(what) \(path): its folder does not exist")
        case ENAMETOOLONG, EILSEQ, EINVAL:
            TransferError(.unsafeName, "\(what) \(path): the Inbox's file system does not take this name (\(error))")
        default:
            .disk(what, path, error, on: staging.folder.raw)
        }
    }

    /// For a whole item on its way into the Inbox as `name`.
    static func placing(_ name: String, _ error: SystemError, in staging: StagingFolder) -> TransferError {
        let what = "cannot move into the Inbox"
        if staging.abilities.refusal(ofName: name, by: DiskAbilities.inboxDisk) != nil {
            return .creating(what, name, error, in: staging)
        }
        switch error.number {
        case ENAMETOOLONG, EILSEQ, EINVAL:
            return .creating(what, name, error, in: staging)
        case EXDEV:
            return TransferError(.storage, "\(what) \(name): it is on another disk now; send it again")
        default:
            return .disk(what, name, error, on: staging.folder.raw)
        }
    }

    /// - Parameters:
    ///   - needed: bytes that are to be stored.
    ///   - free: bytes that can be.
    static func noRoom(_ path: String, needed: UInt64, free: UInt64) -> TransferError {
        TransferError(
            .noRoom,
            "cannot store \(path): it needs \(ByteCount.text(needed)) and the disk has \(ByteCount.text(free)) free; "
                + "make room and send it again"
        )
    }
}
