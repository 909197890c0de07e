import TestSupport
import Testing

@testable import Groups

/// A small run: five members, five blocks, a ring of three, so that two deaths can make a gap. Its times are short, so that
/// there are few heartbeats.
@Suite("Deaths in a group")
struct DeathTests {
    static let members = 5
    static let blocks = 5
    static let deaths: [GroupSimulation.Death] = [.killed, .silent]

    static var limits: GroupLimits {
        var limits = GroupLimits()
        limits.ring = 3
        limits.minimumBlocks = 1
        limits.silence = .milliseconds(400)
        limits.dial = .milliseconds(400)
        limits.suspicion = .milliseconds(600)
        return limits
    }

    /// - Returns: the faults; none if every living member has every block.
    private func faults(_ deaths: [(member: Int, has: Int, death: GroupSimulation.Death)]) -> [String] {
        let simulation = GroupSimulation(members: Self.members, blocks: Self.blocks, limits: Self.limits)
        simulation.deaths = deaths
        simulation.allAnswer()
        simulation.run(for: 30_000_000)
        // A death alone never costs another member its chain.
        let left = simulation.causes.keys.filter { simulation.hosts[$0].death == nil }
        let isBridged = deaths.count > 1 || (left.isEmpty && simulation.headDials <= 2)
        return simulation.faults + (isBridged ? [] : ["not bridged; \(left) left the chain: \(simulation.causes)"])
    }

    @Test("after one death at any block, each other member gets all blocks in the chain", arguments: deaths)
    func one(death: GroupSimulation.Death) {
        for member in 0..<Self.members {
            for has in 0...Self.blocks {
                #expect(faults([(member, has, death)]) == [], "\(member) \(death) at \(has)")
            }
        }
    }

    @Test("after two deaths at any blocks, each other member gets all blocks", arguments: deaths, deaths)
    func two(first: GroupSimulation.Death, second: GroupSimulation.Death) {
        for one in 0..<Self.members {
            for other in (one + 1)..<Self.members {
                for has in 0...Self.blocks {
                    for hasOther in 0...Self.blocks {
                        let found = faults([(one, has, first), (other, hasOther, second)])
                        #expect(found == [], "\(one) \(first) at \(has), \(other) \(second) at \(hasOther)")
                    }
                }
            }
        }
    }

    @Test("after the sender's death at any block, each member ends and keeps what it has", arguments: deaths)
    func sender(death: GroupSimulation.Death) {
        for has in 0...Self.blocks {
            let simulation = GroupSimulation(members: Self.members, blocks: Self.blocks, limits: Self.limits)
            simulation.at(1_000 + has * 6_000) { simulation.endSender(death) }
            simulation.allAnswer()
            simulation.run(for: 3_000_000)
            for (member, host) in simulation.hosts.enumerated() where host.end != .whole {
                #expect(host.end == .fault(death == .killed ? .senderGone : .senderSilent), "\(member) at \(has)")
            }
        }
    }
}
