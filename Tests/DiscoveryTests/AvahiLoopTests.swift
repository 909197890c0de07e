import Testing

@testable import Discovery

@Suite("The loop that Avahi lives on", .timeLimit(.minutes(1)))
struct AvahiLoopTests {
    private actor Resident {
        let loop: AvahiLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        private var count = 0

        init() throws {
            loop = try AvahiLoop(name: "waft-test")
        }

        func step() -> Int {
            loop.checkIsolated()
            count += 1
            return count
        }

        /// The order of jobs that are deferred until no callback is on the stack.
        func putOff() async -> [Int] {
            await withCheckedContinuation { continuation in
                var order: [Int] = []
                loop.afterCallbacks {
                    order.append(2)
                    self.loop.afterCallbacks {
                        order.append(3)
                        continuation.resume(returning: order)
                    }
                }
                order.append(1)
            }
        }
    }

    @Test("an actor's work runs on it, one piece after the other")
    func runs() async throws {
        let resident = try Resident()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1_000 { group.addTask { _ = await resident.step() } }
        }
        #expect(await resident.step() == 1_001)
        #expect(resident.loop.isIsolatingCurrentContext() == false)
    }

    @Test("a deferred closure runs after the one that deferred it")
    func putOff() async throws {
        #expect(await (try Resident()).putOff() == [1, 2, 3])
    }

    @Test("it goes when its actor goes")
    func ends() async throws {
        weak var loop: AvahiLoop?
        for _ in 0..<50 {
            let resident = try Resident()
            loop = resident.loop
            #expect(await resident.step() == 1)
        }
        // The loop's thread may hold it for the rest of a turn.
        while loop != nil { await Task.yield() }
    }
}
