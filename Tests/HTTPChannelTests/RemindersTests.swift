import NIOCore
import Testing

@testable import HTTPChannel

@Suite("A client that waits for its answer")
struct RemindersTests {
    private func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    @Test("gets a reminder after each interval")
    func waiting() {
        var reminders = Reminders(every: .seconds(15), from: at(100))
        #expect(reminders.pause(at: at(100), since: at(90)) == .seconds(15))
        #expect(reminders.pause(at: at(114), since: at(90)) == .seconds(1))
        #expect(reminders.pause(at: at(115), since: at(90)) == nil)
        #expect(reminders.pause(at: at(115), since: at(90)) == .seconds(15))
        #expect(reminders.pause(at: at(131), since: at(90)) == nil)
        #expect(reminders.pause(at: at(132), since: at(90)) == .seconds(14))
    }

    @Test("gets no reminder while its body is read, and one interval longer")
    func sending() {
        var reminders = Reminders(every: .seconds(15), from: at(100))
        for second in 115..<1_000 {
            #expect(reminders.pause(at: at(Int64(second)), since: at(Int64(second) - 1)) == .seconds(14))
        }
        #expect(reminders.pause(at: at(1_012), since: at(998)) == .seconds(1))
        #expect(reminders.pause(at: at(1_013), since: at(998)) == nil)
    }

    @Test("may have been waited for a moment after the clock was read")
    func future() {
        var reminders = Reminders(every: .seconds(15), from: at(100))
        #expect(reminders.pause(at: at(120), since: at(121)) == .seconds(16))
    }
}
