import Glibc
import SystemCalls
import TestSupport
import Testing

@testable import Inbox

@Suite("A sync of the whole file system")
struct WholeSyncTests {
    private let folder = TemporaryFolder()

    /// A sync that meets a fault at its first call.
    private func sync() throws -> WholeSync {
        let opened = OpenFolder(
            FileDescriptor(owning: try systemCall { open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }))
        let calls = Recorder<Int32>()
        return WholeSync(opened) { raw in
            calls.record(raw)
            return calls.count > 1
        }
    }

    @Test("counts a fault that another commit has met for each item that was being written, and for no later one")
    func shared() throws {
        let sync = try sync()
        let (mine, others) = (sync.mark, sync.mark)
        #expect(!sync.syncs(since: [others]))
        let later = sync.mark
        #expect(!sync.syncs(since: [later, mine]), "the kernel reports the fault once")
        #expect(sync.syncs(since: [later]))
    }
}
