import Testing

@testable import Groups

@Suite("Bounds of groups")
struct GroupLimitsTests {
    @Test("a ring has 8 MiB")
    func ring() {
        #expect(GroupLimits().ring * GroupLimits.blockBytes == 8 << 20)
    }
}
