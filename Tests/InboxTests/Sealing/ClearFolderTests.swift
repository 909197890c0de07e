import Foundation
import Glibc
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
}
