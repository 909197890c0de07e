import Foundation
import Glibc
import Sharing
import SystemCalls
import TestSupport
import Testing

@testable import Inbox

@Suite("The folder of clear copies")
struct ClearFolderTests {
    private func removeDead(_ path: String) {
        ClearFolder.removeDead(candidates: [path], isOwn: { $0.hasPrefix("reader") })
    }

    @Test("copies of a dead receiver are removed by the next program, and those of living ones stay")
    func dead() throws {
        let path = "/dev/shm/waft-test-\(getpid())-dead"
        var receiver = ClearFolder(candidates: [path])
        #expect(receiver?.path == path)
        let copy = try #require(receiver?.folder(of: "handler")) + "/1"
        mkdir(copy, 0o700)
        var reader = ClearFolder(candidates: [path], isSwept: false)?.hold("reader-1")
        #expect(reader != nil)
        // As one of a process that has died.
        mkdir(path + "/reader-2", 0o700)
        removeDead(path)
        #expect(listing(of: path).sorted() == ["handler", "reader-1"])
        #expect(listing(of: path + "/handler") == ["1"])
        receiver = nil
        removeDead(path)
        #expect(listing(of: path) == ["reader-1"])
        reader = nil
        removeDead(path)
        #expect(access(path, F_OK) != 0)
        _ = (receiver, reader)
    }

    @Test("the copy that one program reads is given to the next one as it is; one that is not whole is made anew")
    func shared() throws {
        let path = "/dev/shm/waft-test-\(getpid())-shared"
        let place = try SealedInbox()
        let arrival = try place.receive(noise(100_000), as: "report.pdf", .unlessOpen)
        try place.unlock()
        let folder = try #require(ClearFolder(candidates: [path]))
        _ = try #require(folder.folder(of: "reader"))
        func copy() throws -> (path: String, inode: UInt64) {
            let path = try folder.sharedCopy(
                arrival, inbox: place.path, keys: FileKeys(place.vault), for: "reader")
            var status = stat()
            #expect(lstat(path, &status) == 0)
            return (path, UInt64(status.st_ino))
        }
        let (first, second) = (try copy(), try copy())
        #expect(first == second)
        #expect(contents(of: first.path) == noise(100_000))
        chmod(first.path, 0o600)
        #expect(truncate(first.path, 10) == 0)
        let third = try copy()
        #expect(third.path == first.path && contents(of: third.path) == noise(100_000))
        folder.end()
    }
}
