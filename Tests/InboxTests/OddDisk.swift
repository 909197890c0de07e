import Foundation
import Glibc
import Testing

@testable import Inbox

/// A disk that cannot do all that a Linux file system can, or that does it in its own way. Only root can mount one.
enum OddDisk: String, CaseIterable, CustomTestStringConvertible {
    case exFAT, ntfs, oneMode, merged, ssh, overlay, ext2

    var testDescription: String { rawValue }

    /// The programs that make and serve it.
    private var programs: [String] {
        switch self {
        case .exFAT: ["mkfs.exfat", "mount.exfat-fuse"]
        case .ntfs: ["mkfs.ntfs", "ntfs-3g"]
        case .oneMode: ["bindfs"]
        case .merged: ["mergerfs"]
        case .ssh: ["sshfs"]
        case .overlay: []
        case .ext2: ["mkfs.ext2"]
        }
    }

    private var isInUserSpace: Bool { self != .overlay && self != .ext2 }

    var isHere: Bool {
        guard geteuid() == 0 else { return false }
        if isInUserSpace, access("/dev/fuse", R_OK | W_OK) != 0 { return false }
        return programs.allSatisfy { program in
            ["/usr/bin/", "/usr/sbin/", "/sbin/"].contains { access($0 + program, X_OK) == 0 }
        }
    }

    static let here = allCases.filter(\.isHere)
    /// For the line that says which disks were not tried.
    static var missing: String { allCases.filter { !$0.isHere }.map(\.rawValue).joined(separator: ", ") }

    /// Mounts it at `$disk`; `$back` is an empty folder beside it.
    var mounting: String {
        switch self {
        case .exFAT:
            """
            truncate -s 64M $back/image && mkfs.exfat $back/image && loop=$(losetup -f --show $back/image) \
            && mount.exfat-fuse $loop $disk -o umask=0022 && losetup -d $loop
            """
        case .ntfs:
            "truncate -s 64M $back/image && mkfs.ntfs -F -Q $back/image && ntfs-3g $back/image $disk -o umask=0022"
        // Every file there counts as executable, whatever chmod says.
        case .oneMode: "bindfs --perms=a+rX:a+x:u+w:go-w --chmod-ignore $back $disk"
        case .merged:
            "mkdir $back/1 $back/2 && mergerfs -o category.create=mfs,minfreespace=1M $back/1:$back/2 $disk"
        case .ssh:
            // Without a network and without keys: the two programs talk through pipes. It is mounted in a moment.
            """
            mkdir $back/files && mkfifo $back/pipe && {
                (/usr/lib/openssh/sftp-server <$back/pipe | sshfs -f :$back/files $disk -o passive >$back/pipe) &
                for turn in $(seq 500); do mountpoint -q $disk && break; sleep 0.02; done; mountpoint -q $disk; }
            """
        case .overlay:
            """
            mkdir $back/lower $back/upper && mount -t tmpfs none $back/upper && mkdir $back/upper/1 $back/upper/2 \
            && mount -t overlay none -o lowerdir=$back/lower,upperdir=$back/upper/1,workdir=$back/upper/2 $disk
            """
        case .ext2: "truncate -s 64M $back/image && mkfs.ext2 -q $back/image && mount -o loop $back/image $disk"
        }
    }

    /// Its abilities, as far as they decide what it can hold.
    var hasLinks: Bool { self != .exFAT }
    var tellsCase: Bool { self != .exFAT }
    var refusedCharacters: String { self == .exFAT ? "\"*:<>?\\|" : "" }
    var keepsModes: Bool { ![.exFAT, .ntfs, .oneMode].contains(self) }
}
