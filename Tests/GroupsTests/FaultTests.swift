import TestSupport
import Testing

@testable import Groups

/// Whole runs with a fault each: liars, networks in parts, slow members.
@Suite("Faults in a group")
struct FaultTests {
    private func run(
        _ count: Int = 8, blocks: Int = 120, _ change: (GroupSimulation) -> Void
    ) -> GroupSimulation {
        let simulation = GroupSimulation(members: count, blocks: blocks)
        change(simulation)
        simulation.allAnswer()
        simulation.run()
        #expect(simulation.faults == [])
        return simulation
    }

    @Test("an honest member that is accused stays, and the one that accuses it leaves")
    func accused() {
        let simulation = run { $0.hosts[4].vice = .accuses }
        #expect(simulation.causes == [4: .wrongBlock])
    }

    @Test("a liar costs one honest neighbour the chain, then it leaves itself")
    func liar() {
        let simulation = run { $0.hosts[4].vice = .corrupts }
        #expect(simulation.causes == [5: .wrongBlock, 4: .wrongBlock])
    }

    @Test("no single liar costs more than two honest members the chain", arguments: GroupSimulation.Vice.allCases)
    func vices(vice: GroupSimulation.Vice) {
        for member in [0, 3, 5] {
            let simulation = run { $0.hosts[member].vice = vice }
            let honest = simulation.causes.keys.filter { $0 != member }
            #expect(honest.count <= 2, "\(member) \(vice): \(simulation.causes)")
        }
    }

    @Test("a member that no other can reach gets its own stream, and the others stay in one chain")
    func firewall() {
        let simulation = run { simulation in
            for other in 0..<8 { simulation.parted.insert([other, 3]) }
        }
        #expect(simulation.causes == [3: .unreachable])
    }

    @Test("a receipt that takes long is waited for")
    func receipts() {
        let simulation = run { $0.storing = 8_000_000 }
        #expect(simulation.sender.members.allSatisfy { $0.state == .received })
        #expect(simulation.hosts.allSatisfy { $0.end == .whole })
    }

    @Test("two rooms that cannot reach each other become two chains, and one member gets its own stream")
    func rooms() {
        let simulation = run(12, blocks: 1_000) { simulation in
            for one in 0..<6 {
                for other in 6..<12 { simulation.parted.formUnion([[one, other], [other, one]]) }
            }
        }
        #expect(simulation.causes == [6: .unreachable])
    }

    @Test("a relay that passes nothing on costs its neighbour the chain, and leaves when the next one waits, too")
    func stall() {
        let simulation = run(blocks: 400) { $0.hosts[3].vice = .stalls }
        #expect(simulation.causes == [4: .slow, 3: .slow])
    }

    @Test("members that cannot reach each other at all are served all the same")
    func isolated() {
        _ = run { simulation in
            for one in 0..<8 { for other in 0..<8 { simulation.parted.insert([one, other]) } }
        }
    }

    @Test("a member that cannot pass on as fast as the others leaves after its neighbour")
    func slowUplink() {
        let simulation = run(blocks: 1_000) { $0.hosts[3].up = 0.5e6 }
        #expect(simulation.causes == [4: .slow, 3: .slow])
    }

    /// A ring that waits for the next only would have lost the blocks that the next but one needs.
    @Test("a death before a member that lags makes no gap")
    func lagging() {
        var limits = GroupLimits()
        limits.ring = 16
        for has in stride(from: 40, to: 120, by: 10) {
            let simulation = GroupSimulation(members: 5, blocks: 200, limits: limits)
            simulation.hosts[3].down = 8e6
            simulation.deaths = [(2, has, .killed)]
            simulation.allAnswer()
            simulation.run()
            #expect(simulation.faults == [] && simulation.causes == [:], "\(has)")
            #expect(simulation.headDials == 1, "\(has)")
        }
    }

    @Test("at 1 Gbit/s, where a heartbeat is 190 blocks old, nobody is taken for slow")
    func fast() {
        let simulation = run(5, blocks: 4_000) { simulation in
            simulation.senderHost.up = 125e6
            for member in simulation.hosts.indices {
                (simulation.hosts[member].up, simulation.hosts[member].down) = (125e6, 125e6)
            }
        }
        let last = simulation.hosts.compactMap(\.doneAt).max() ?? .max
        #expect(Double(last) <= 1.1 * 4_000 * 65_536 / 125)
        #expect(simulation.causes == [:])
    }

    @Test("rates that change by a third are not slow", arguments: 1...4 as ClosedRange<UInt64>)
    func noise(seed: UInt64) {
        var dice = SeededNumbers(seed: seed)
        let simulation = run(6, blocks: 700) { simulation in
            for time in stride(from: 0, to: 8_000_000, by: 200_000) {
                for member in simulation.hosts.indices {
                    let up = Double.random(in: 8.4e6...16.6e6, using: &dice)
                    let down = Double.random(in: 8.4e6...16.6e6, using: &dice)
                    simulation.at(time) {
                        (simulation.hosts[member].up, simulation.hosts[member].down) = (up, down)
                    }
                }
            }
        }
        #expect(simulation.causes == [:])
    }

    @Test("a slow sender is no fault of its members")
    func slowSender() {
        let simulation = run(blocks: 400) { $0.senderHost.up = 2e6 }
        #expect(simulation.causes == [:])
    }

    @Test("a sender that becomes slow costs one head its place at most")
    func slowerSender() {
        let simulation = run(blocks: 1_000) { simulation in
            simulation.at(1_500_000) { simulation.senderHost.up = 2e6 }
        }
        #expect(simulation.causes.count <= 1)
    }

    @Test("a member with two thirds of the rate is not slow, and one with a third is")
    func border() {
        for member in [0, 3] {
            #expect(run(blocks: 1_000) { $0.hosts[member].down = 8.4e6 }.causes == [:])
            #expect(run(blocks: 1_000) { $0.hosts[member].down = 4e6 }.causes == [member: .slow])
        }
    }

    @Test("a group of slow members with one fast one stays whole")
    func fastOne() {
        let simulation = run(blocks: 300) { simulation in
            for member in 0..<8 where member != 2 { simulation.hosts[member].down = 2e6 }
        }
        #expect(simulation.causes == [:])
    }
}
