import Testing

@testable import Groups

/// The figures of a classroom in simulated time: 23 members at 100 Mbit/s.
@Suite("Figures of groups, in simulated time")
struct FigureTests {
    /// 20 MB.
    private static let blocks = 306
    /// When the last of 23 members has all blocks.
    private static let usual = {
        let simulation = GroupSimulation(members: 23, blocks: blocks)
        simulation.allAnswer()
        simulation.run()
        return simulation.hosts.compactMap(\.doneAt).max().map { Double($0) / 1e6 } ?? .infinity
    }()
    private static let one = Double(blocks) * 65_536 / 12.5e6

    /// Runs 23 members; returns when each had all blocks, in seconds.
    private func run(
        _ blocks: Int = blocks, _ change: (GroupSimulation) -> Void = { _ in }
    ) -> (times: [Double?], simulation: GroupSimulation) {
        let simulation = GroupSimulation(members: 23, blocks: blocks)
        change(simulation)
        simulation.allAnswer()
        simulation.run()
        #expect(simulation.faults == [])
        return (simulation.hosts.map { $0.doneAt.map { Double($0) / 1e6 } }, simulation)
    }

    private func last(_ times: [Double?], besides member: Int? = nil) -> Double {
        times.indices.filter { $0 != member }.compactMap { times[$0] }.max() ?? .infinity
    }

    @Test("20 MB come to 23 members within 1.3 of the time of one receiver")
    func classroom() {
        let (times, _) = run()
        #expect(last(times) <= 1.3 * Self.one)
    }

    @Test("100 MB come to 23 members within 1.1 of the time of one receiver")
    func large() {
        let (times, _) = run(1_526)
        let one = 1_526 * 65_536 / 12.5e6
        #expect(last(times) <= 1.1 * one)
    }

    @Test("if a member is killed, the others are later by 1 s at most", arguments: [0, 11, 22])
    func killed(member: Int) {
        let (times, simulation) = run { $0.deaths = [(member, 150, .killed)] }
        #expect(last(times, besides: member) <= Self.usual + 1)
        #expect(simulation.causes.isEmpty)
    }

    @Test("if a member falls silent, the others are later by 3 s at most", arguments: [0, 11, 22])
    func silent(member: Int) {
        let (times, simulation) = run { $0.deaths = [(member, 150, .silent)] }
        #expect(last(times, besides: member) <= Self.usual + 3)
        #expect(simulation.causes.isEmpty)
    }

    @Test("if a member has a tenth of the rate, the others are later by 3 s at most", arguments: [0, 1, 11, 22])
    func slow(member: Int) {
        let (times, simulation) = run { simulation in
            simulation.hosts[member].down = 1.25e6
        }
        #expect(last(times, besides: member) <= Self.usual + 3)
        #expect(simulation.causes.keys.allSatisfy { $0 == member })
    }

    @Test(
        "if a relay dials nobody and says nothing of it, the others are later by 5 s at most", arguments: [0, 11, 21])
    func ignoring(member: Int) {
        let (times, simulation) = run { $0.hosts[member].vice = .ignores }
        let chain = times.indices.filter { simulation.causes[$0] == nil }
        #expect(chain.compactMap { times[$0] }.max() ?? .infinity <= Self.usual + 5)
        #expect(simulation.causes.keys.allSatisfy { [member, member + 1].contains($0) }, "\(simulation.causes)")
    }

    @Test("if a relay lies in one byte, the others are later by 1 s at most, and nobody keeps a wrong block")
    func liar() {
        let (times, simulation) = run { $0.hosts[11].vice = .corrupts }
        let chain = times.indices.filter { simulation.causes[$0] == nil }
        #expect(chain.compactMap { times[$0] }.max() ?? .infinity <= Self.usual + 1)
    }
}
