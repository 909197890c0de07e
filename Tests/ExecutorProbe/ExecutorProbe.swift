import Executors
import Foundation

/// Runs one scenario of ExecutorsTests on the executor of the programs.
///
///     executor-probe sleep     →  `slept` when three sleeps of different lengths end in the order of their lengths,
///                                 each not before its time
///     executor-probe cancel    →  `cancelled` when a sleep of an hour was cancelled
///     executor-probe blocked   →  `free` when a later task has released 20 tasks that block
///     executor-probe many      →  the sum of the results of 10,000 tasks, which all wait for another's actor
///     executor-probe main      →  `main` from a function of the main actor
///
/// and then prints the names of the process's threads, one a line.
@main
enum ExecutorProbe {
    static func main() {
        ProgramExecutor.install()
        Task.detached {
            print(await run(CommandLine.arguments.dropFirst().first ?? ""))
            let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            for task in tasks {
                print(
                    (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) ?? "", terminator: ""
                )
            }
            exit(0)
        }
        while true { pause() }
    }

    private static func run(_ scenario: String) async -> String {
        switch scenario {
        case "sleep": await sleep()
        case "cancel": await cancel()
        case "blocked": await blocked()
        case "many": await many()
        case "main": await onMain()
        default: "unknown scenario"
        }
    }

    private static func sleep() async -> String {
        await withTaskGroup(of: (milliseconds: Int, isEarly: Bool).self) { group in
            for milliseconds in [1_400, 20, 700] {
                group.addTask {
                    let start = ContinuousClock.now
                    // One sleep for each API.
                    switch milliseconds {
                    case 20: try? await Task.sleep(nanoseconds: 20_000_000)
                    case 700: try? await SuspendingClock().sleep(for: .milliseconds(700))
                    default: try? await Task.sleep(until: start + .milliseconds(milliseconds), clock: .continuous)
                    }
                    return (milliseconds, ContinuousClock.now - start < .milliseconds(milliseconds))
                }
            }
            var order: [Int] = []
            for await sleeper in group {
                if sleeper.isEarly { return "\(sleeper.milliseconds) is early" }
                order.append(sleeper.milliseconds)
            }
            return order == [20, 700, 1_400] ? "slept" : "\(order)"
        }
    }

    private static func cancel() async -> String {
        let sleeper = Task { try await Task.sleep(for: .seconds(3_600)) }
        await Task.yield()
        sleeper.cancel()
        do { try await sleeper.value } catch is CancellationError { return "cancelled" } catch { return "\(error)" }
        return "slept"
    }

    private static func blocked() async -> String {
        let gate = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { block(on: gate) } }
            group.addTask { for _ in 0..<20 { gate.signal() } }
        }
        return "free"
    }

    private static func block(on gate: DispatchSemaphore) { gate.wait() }

    private actor Counter {
        private var sum = 0

        func add(_ number: Int) -> Int {
            sum += number
            return number
        }

        var total: Int { sum }
    }

    private static func many() async -> String {
        let counters = (0..<10).map { _ in Counter() }
        let returned = await withTaskGroup(of: Int.self) { group in
            for number in 0..<10_000 {
                group.addTask {
                    await Task.yield()
                    return await counters[number % 10].add(number)
                }
            }
            return await group.reduce(0, +)
        }
        var counted = 0
        for counter in counters { counted += await counter.total }
        return counted == returned ? "\(returned)" : "\(counted) of \(returned)"
    }

    @MainActor private static func onMain() -> String {
        MainActor.assertIsolated()
        return "main"
    }
}
