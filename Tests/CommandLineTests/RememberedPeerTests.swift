import Foundation
import Lines
import Sharing
import TestSupport
import Testing

@testable import CommandLine

@Suite("Machines that are reached by a remembered address, without discovery", .timeLimit(.minutes(1)))
struct RememberedPeerTests {
    @Test("a remembered machine is listed as present or absent, and send finds it by its name")
    func remembered() async throws {
        let (kitchen, study) = (CommandHome(), CommandHome("study"))
        try await kitchen.receiving { address in
            await study.answer([
                ("peers add lab7 \(address)", "lab7 is remembered at \(address)"),
                ("peers add lab8 127.0.0.1:1", "lab8 is remembered at 127.0.0.1:1"),
            ])
            let id = try #require(await kitchen.run("contacts me --json").results.firstMatch(of: /"id":"([^"]*)"/)?.1)
            let listed = await study.run("peers --json --timeout 1").results.split(separator: "\n")
            #expect(listed.contains { $0.contains(#""event":"found""#) && $0.contains(id) }, "\(listed)")
            #expect(listed.contains { $0.contains(#""rememberedAs":"lab7""#) }, "\(listed)")
            #expect(listed.contains { $0.contains(#""event":"away""#) && $0.contains(#""name":"lab8""#) }, "\(listed)")
            let people = await study.run("peers --timeout 1").results
            #expect(people.contains("(remembered as lab7: present)"), "\(people)")
            #expect(people.contains("lab8                    absent     127.0.0.1:1"), "\(people)")
            await study.answer([("send $F/note.txt --to LAB7", "stored as note.txt")])
            #expect(kitchen.stored == ["note.txt"])
            await study.expect([("send $F/note.txt --to lab8 --timeout 0.2", .unreachable, "connect")])
            // A contact of that name is its key: another machine at the address gets nothing.
            await study.answer([("contacts allow \(PeerID.sample(1).text) --name lab7", "allowed lab7")])
            await study.expect([("send $F/1 --to lab7 --timeout 1", .unreachable, "another key")])
            #expect(kitchen.stored == ["note.txt"])
        }
    }

    @Test("a name or an address that is none is refused in one line, and nothing is stored")
    func refused() async {
        let study = CommandHome("study")
        for words in ["a:1 10.1.2.3", "lab7 10.1.2.3:0", "lab7 'x y'", "lab7 \u{1B}[31m", "lab7", "everyone x"] {
            let said = await study.run("peers add \(words)")
            #expect(said.exit == .usage && said.notes.hasPrefix("waft: "), "\(said)")
            #expect(!said.notes.contains("\u{1B}"))
        }
        #expect(!FileManager.default.fileExists(atPath: study.folder / "state/remembered-peers.json"))
    }
}
