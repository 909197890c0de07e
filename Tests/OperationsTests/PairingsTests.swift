import Control
import Lines
import Pairing
import Settings
import Sharing
import TestSupport
import Testing

@testable import Operations

@Suite("What a user can do to pair")
struct PairingsTests {
    private let home: Kitchen
    private let peer = PairingPeerLine(.sample(1), named: "study", isContact: false, warning: nil)
    private let comparison = CompareLine(digits: "123456", words: ["a", "b"])

    init() throws { home = try Kitchen(jobs: 0) }

    /// Lets a peer pair, with a receiver whose standing is one of these after another.
    private func accept(
        _ standings: [(inout PairingProgress) -> Void], answers isSame: Bool? = true, byCode: Bool = false
    ) async throws -> (result: Result<PairedLine, any Error>, steps: [String], asked: [PairingRequest]) {
        var standing = PairingProgress(ticket: 7)
        let all = standings.map { change in
            change(&standing)
            standing.revision += 1
            return standing
        }
        let (steps, asked, follows) = (Recorder<String>(), Recorder<PairingRequest>(), Recorder<Int>())
        let user = Pairings.User {
            steps.record("\($0)".split(separator: "(")[0].description)
        } says: {
            isSame
        }
        let result = Recorder<Result<PairedLine, any Error>>()
        let waft = home.waft
        try await home.withReceiver { request in
            guard case .pairing(let request) = request else { return .done }
            switch request {
            case .open:
                asked.record(request)
                var opened = PairingProgress(ticket: 7)
                opened.code = byCode ? "123-456-789" : nil
                return .pairing(opened)
            case .follow:
                let place = follows.all.count
                follows.record(place)
                return all.indices.contains(place) ? .pairing(all[place]) : .refused("it is over")
            case .answer, .close, .permit, .withdraw:
                asked.record(request)
                return .done
            }
        } _: {
            do {
                result.record(
                    .success(try await waft.pairing.accept(byCode: byCode, name: nil, for: .seconds(900), user)))
            } catch {
                result.record(.failure(error))
            }
        }
        return (try #require(result.all.first), steps.all, asked.all)
    }

    @Test("a peer comes, both sides compare, and it is a contact")
    func accepted() async throws {
        let paired = PairedLine(.sample(1), contact: "study")
        let (result, steps, asked) = try await accept([
            { $0.phase = .trying }, { $0.peer = peer }, { ($0.phase, $0.comparison) = (.comparing, comparison) },
            { $0.phase = .confirmed }, { ($0.phase, $0.paired) = (.paired, paired) },
        ])
        #expect(try result.get() == paired)
        #expect(steps == ["open", "peer", "compare", "confirmed"])
        #expect(asked.first == .open(PairingOpening(method: .compare, seconds: 600, name: nil)))
        #expect(paired.json == #"{"event":"paired","peer":{"contact":"study","id":"\#(PeerID.sample(1).text)"},"v":1}"#)
    }

    @Test("a peer that leaves makes room for another, and the end of pairing mode says why")
    func left() async throws {
        let (result, steps, asked) = try await accept(
            [
                { ($0.phase, $0.peer) = (.trying, peer) }, { ($0.phase, $0.peer) = (.waiting, nil) },
                { ($0.phase, $0.failure) = (.failed, PairingEndError(.noAnswer, "no machine paired in time")) },
            ], byCode: true)
        #expect(throws: WaftError(.noAnswer, "not paired: no machine paired in time")) { try result.get() }
        #expect(steps == ["open", "peer", "left"])
        #expect(asked.first == .open(PairingOpening(method: .code, seconds: 600, name: nil)))
    }

    @Test(
        "every end has its exit code",
        arguments: [
            (.declined, .declined), (.noAnswer, .noAnswer), (.lost, .unreachable), (.cancelled, .interrupted),
            (.failed, .unexpected),
        ] as [(PairingEndError.Code, WaftExit)])
    func ends(code: PairingEndError.Code, exit: WaftExit) async throws {
        let (result, _, _) = try await accept([
            { ($0.phase, $0.failure) = (.failed, PairingEndError(code, "so it is")) }
        ])
        #expect(throws: WaftError(exit, "not paired: so it is")) { try result.get() }
    }

    @Test("a receiver that refuses, and one that is not there, end it")
    func refused() async throws {
        let (result, _, _) = try await accept([])
        #expect(throws: WaftError(.declined, "not paired: it is over")) { try result.get() }
        let user = Pairings.User { _ in
        } says: {
            nil
        }
        let none = await failure {
            try await home.waft.pairing.accept(byCode: false, name: nil, for: .seconds(1), user)
        }
        #expect(none?.code == .notRunning)
    }

    @Test("a peer that is not there cannot be paired with")
    func nobody() async throws {
        let user = Pairings.User { _ in
            Issue.record("there is no peer")
        } says: {
            nil
        }
        let peer = try Pairings.peer("127.0.0.1:1")
        var settings = Settings(hostName: "kitchen")
        settings.discovery = false
        let waft = Waft(home.home, LiveSettings(settings), logger: home.waft.logger)
        let lost = await failure {
            try await waft.pairing.begin(with: peer, code: nil, name: nil, finding: .milliseconds(100), user)
        }
        #expect(lost?.reason.hasPrefix("not paired: ") == true)
    }

    @Test("names, peers and codes that are none are refused")
    func words() async throws {
        #expect(await failure { try Pairings.name("a/b") }?.code == .usage)
        #expect(await failure { try Pairings.peer("") }?.reason == "a peer's name has 1 to 255 bytes")
        for text in ["", "123-456-78", "123-456-78x"] {
            let refusal = await failure { try Pairings.code(text) }
            #expect(refusal == WaftError(.usage, "a code has 9 digits, as 123-456-789"))
        }
        _ = try Pairings.code("123-456-789")
    }
}
