import Foundation
import Sharing
import TestSupport
import Testing

@testable import Journal

@Suite("A journal whose files go while it is open", .timeLimit(.minutes(1)))
struct PlaceTests {
    private let folder = TemporaryFolder()

    @Test(
        "takes nothing more, and reports it before an offer is accepted",
        arguments: ["the folder", "the file", "its log", "another in its place"])
    func gone(what: String) throws {
        let state = folder / "state"
        let journal = try Journal(folder: state)
        try journal.arrive(1)
        try journal.checkPlace()
        let path = state + "/journal.sqlite"
        switch what {
        case "the folder": try FileManager.default.removeItem(atPath: state)
        case "the file": unlink(path)
        case "its log": unlink(path + "-wal")
        default:
            rename(path, path + ".old")
            try Data(contentsOf: URL(fileURLWithPath: path + ".old")).write(to: URL(fileURLWithPath: path))
        }
        #expect(fault { try journal.checkPlace() }?.contains("journal") == true)
        let refused = #expect(throws: TransferError.self) { _ = try journal.arrive(1) }
        #expect(refused?.code == .noRoom)
    }

    @Test("takes again where they are put back")
    func back() throws {
        let state = folder / "state"
        let journal = try Journal(folder: state)
        rename(state, folder / "elsewhere")
        #expect(throws: JournalError.self) { try journal.checkPlace() }
        rename(folder / "elsewhere", state)
        try journal.arrive(1)
    }
}
