import CLinuxShims
import Glibc
import Sharing
import SystemCalls
import TestSupport
import Testing

@testable import Inbox

@Suite("An Inbox whose disk goes and comes back")
struct RemountTests {
    @Test("is used again as soon as it is mounted, without a restart; until then it is reported as missing")
    func remounted() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            try inPrivateMounts {
                let (disk, other) = (folder / "disk", folder / "other")
                for mountPoint in [disk, other] {
                    mkdir(mountPoint, 0o700)
                    #expect(CLinuxShims_mount_tmpfs(mountPoint, "8m") == 0)
                    // A receiver has used it before.
                    _ = try FileInbox(path: mountPoint + "/Inbox", reserve: .bytes(0))
                }
                makeFile(other + "/.waft-staging/Inbox/half", "left by a crash")
                let inbox = try FileInbox(path: disk + "/Inbox", reserve: .bytes(0))
                try offerAndStore("first", in: inbox)
                let begun = try inbox.stagedFile("begun")
                #expect(umount2(disk, Int32(MNT_DETACH)) == 0)
                #expect(faultCode { _ = try inbox.freeRoom() } == .storage)
                #expect(faultCode { try inbox.store(begun, as: "begun") } == .storage)
                #expect(everything(below: disk) == ["Inbox"])
                #expect(CLinuxShims_mount_bind(other, disk) == 0)
                defer {
                    umount2(disk, Int32(MNT_DETACH))
                    umount2(other, Int32(MNT_DETACH))
                }
                try offerAndStore("second", in: inbox)
                #expect(listing(of: other + "/Inbox") == ["second"])
                #expect(listing(of: other + "/.waft-staging/Inbox") == ["lock"])
                // A receiver locks its Inbox.
                #expect(throws: InboxError.self) { try FileInbox(path: other + "/Inbox") }
            }
        }
    }

    @Test("keeps items that began on the lost disk out of the disk that replaced it")
    func begunBefore() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            try inPrivateMounts {
                let (disk, other) = (folder / "disk", folder / "other")
                for mountPoint in [disk, other] {
                    mkdir(mountPoint, 0o700)
                    #expect(CLinuxShims_mount_tmpfs(mountPoint, "8m") == 0)
                    _ = try FileInbox(path: mountPoint + "/Inbox", reserve: .bytes(0))
                }
                let inbox = try FileInbox(path: disk + "/Inbox", reserve: .bytes(0))
                let begun = try inbox.stagedFile("begun")
                #expect(CLinuxShims_mount_bind(other, disk) == 0)
                defer {
                    umount2(disk, Int32(MNT_DETACH))
                    umount2(disk, Int32(MNT_DETACH))
                    umount2(other, Int32(MNT_DETACH))
                }
                try offerAndStore("second", in: inbox)
                #expect(faultCode { try inbox.store(begun, as: "begun") } == .unexpected)
                #expect(listing(of: other + "/Inbox") == ["second"])
            }
        }
    }

    @Test("makes its staging folder again if it was removed")
    func stagingRemoved() throws {
        let folder = TemporaryFolder()
        let inbox = try FileInbox(path: folder / "Inbox", reserve: .bytes(0))
        try offerAndStore("first", in: inbox)
        #expect(rmdirAll(folder / ".waft-staging"))
        try offerAndStore("second", in: inbox)
        #expect(listing(of: folder / "Inbox") == ["first", "second"])
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    private func rmdirAll(_ staging: String) -> Bool {
        unlink(staging + "/Inbox/lock") == 0 && rmdir(staging + "/Inbox") == 0
            && unlink(staging + "/CACHEDIR.TAG") == 0 && rmdir(staging) == 0
    }
}

private func offerAndStore(_ name: String, in inbox: FileInbox) throws {
    // A transfer begins with this call.
    _ = try inbox.freeRoom()
    try inbox.store(try inbox.stagedFile(name), as: name)
}
