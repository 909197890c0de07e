import Foundation
import TestSupport
import Testing

@testable import Groups

/// Runs by seed, with everything that can go wrong.
@Suite("Random groups")
struct RandomTests {
    @Test("in any run each living member gets all blocks, none of them wrong, and the group ends")
    func runs() {
        // As for `brokenStory`: another number for a long search.
        let orders = ProcessInfo.processInfo.environment["WAFT_ORDERS"].flatMap { UInt64($0) } ?? 150
        for seed in 1...orders {
            var dice = SeededNumbers(seed: seed)
            var story: [String] = []
            let simulation = make(&dice, &story)
            simulation.run()
            #expect(simulation.faults == [], "seed \(seed): \(story)")
        }
    }

    private func make(_ dice: inout SeededNumbers, _ story: inout [String]) -> GroupSimulation {
        var limits = GroupLimits()
        limits.ring = [4, 8, 16, 128].randomElement(using: &dice) ?? 4
        limits.minimumBlocks = 1
        let count = Int.random(in: 3...9, using: &dice)
        let blocks = Int.random(in: 1...80, using: &dice)
        let simulation = GroupSimulation(members: count, blocks: blocks, limits: limits)
        story.append("\(count) members, \(blocks) blocks, ring \(limits.ring)")
        for member in 0..<count {
            switch Int.random(in: 0..<12, using: &dice) {
            case 0:
                let has = Int.random(in: 0...blocks, using: &dice)
                simulation.deaths.append((member, has, .killed))
                story.append("\(member) is killed at \(has)")
            case 1:
                let has = Int.random(in: 0...blocks, using: &dice)
                simulation.deaths.append((member, has, .silent))
                story.append("\(member) falls silent at \(has)")
            case 2:
                simulation.hosts[member].down = [1.25e6, 0.3e6, 5e6].randomElement(using: &dice) ?? 1e6
                story.append("\(member) is slow")
            case 3:
                let vice = GroupSimulation.Vice.allCases.randomElement(using: &dice)
                simulation.hosts[member].vice = vice
                story.append("\(member) \(vice.map { "\($0)" } ?? "")")
            case 4:
                let other = Int.random(in: 0..<count, using: &dice)
                simulation.parted.insert([member, other])
                story.append("\(member) cannot reach \(other)")
            case 5:
                let at = Int.random(in: 0...500_000, using: &dice)
                simulation.at(at) { simulation.leave(member) }
                story.append("\(member) leaves at \(at)")
            default:
                break
            }
            answer(simulation, member, &dice, &story)
        }
        return simulation
    }

    private func answer(
        _ simulation: GroupSimulation, _ member: Int, _ dice: inout SeededNumbers, _ story: inout [String]
    ) {
        var terms = simulation.terms(member)
        switch Int.random(in: 0..<14, using: &dice) {
        case 0:
            simulation.at(0) { simulation.answer(member, .no) }
            story.append("\(member) declines")
        case 1:
            simulation.at(0) { simulation.answer(member, .yesAlone) }
            story.append("\(member) does not relay")
        case 2:
            terms.terms = 1
            simulation.at(0) { simulation.answer(member, .yes(terms)) }
            story.append("\(member) has other terms")
        case 3:
            let time = Int.random(in: 0...4_000_000, using: &dice)
            simulation.at(time) { simulation.answer(member, .yes(terms)) }
            story.append("\(member) answers at \(time)")
        default:
            simulation.at(0) { simulation.answer(member, .yes(terms)) }
        }
    }
}
