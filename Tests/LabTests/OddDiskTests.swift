import Foundation
import Glibc
import Testing

/// A disk that cannot hold everything, with the real programs.
@Suite("A disk with exFAT", .serialized)
struct OddDiskTests {
    private static let isHere =
        geteuid() == 0
        && ["/dev/fuse", "/usr/sbin/mkfs.exfat", "/usr/sbin/mount.exfat-fuse"]
            .allSatisfy { (path: String) in access(path, R_OK) == 0 }

    private func write(_ files: [String: String], in folder: String) throws {
        for (name, text) in files {
            let path = URL(fileURLWithPath: folder + "/" + name)
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: path)
        }
    }

    @Test(
        "of the Inbox refuses what it cannot hold before anything is sent, knows the rest again, and the doctor says so",
        .enabled(if: isHere, "not run here: Scripts/setup tests has the programs; only root can mount"))
    func inbox() async throws {
        try await withTemporaryFolder { folder in
            let (disk, sources) = (folder + "/disk", folder + "/sources")
            let kitchen = Host.loopback(folder + "/kitchen")
            let study = Host.loopback(folder + "/study")
            for path in [disk, kitchen.home] { mkdir(path, 0o700) }
            // Not by Foundation, which waits for the end of the program that serves the disk.
            let mounting = """
                truncate -s 64M image && mkfs.exfat image && loop=$(losetup -f --show image) \
                && mount.exfat-fuse $loop disk -o umask=0022 && losetup -d $loop && mkdir disk/Documents
                """
            try #require(system("cd '\(folder)' && { \(mounting); } >/dev/null 2>&1") == 0)
            defer { umount2(disk, Int32(MNT_DETACH)) }
            symlink(disk + "/Documents", kitchen.home + "/Documents")
            try write(
                [
                    "links/a": "1", "signs/x:y": "1", "cases/a.txt": "1", "cases/A.TXT": "2", "what?": "1",
                    "plain/a": "1", "plain/run.sh": "2",
                ], in: sources)
            symlink("a", sources + "/links/link")
            chmod(sources + "/plain/run.sh", 0o755)
            try await kitchen.withReceiver { running in
                func send(_ name: String) async throws -> ProgramResult {
                    try await study.run(arguments: ["send", name, "--to", running.address], in: sources)
                }
                for (name, words) in [
                    ("links", "has no symbolic links"), ("signs", "takes no names with :"),
                    ("cases", "does not tell capital letters"), ("what?", "takes no names with ?"),
                ] {
                    let refused = try await send(name)
                    #expect(
                        refused.exit == 13 && refused.errors.contains("the disk of the Inbox \(words)"), "\(refused)")
                    #expect(!refused.errors.contains("resuming"), "\(refused.errors)")
                }
                #expect(await running.log.count("progress") == 0, "no refused offer became a transfer")
                #expect(try await send("plain").exit == 0)
                let again = try await send("plain")
                #expect(again.exit == 0 && again.output.contains("already there as plain"), "\(again)")
                #expect(try running.names() == ["plain"])
                #expect(try await kitchen.run(arguments: ["inbox", "verify"]).exit == 0)
                let doctor = try await kitchen.run(arguments: ["doctor"])
                let line = doctor.output.split(separator: "\n").first {
                    $0.contains("has no symbolic links, takes no names")
                }
                #expect(line?.contains("keeps no executable bits") == true, "\(doctor.output)")
            }
        }
    }
}
