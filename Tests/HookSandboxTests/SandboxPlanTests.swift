import Glibc
import Testing

@testable import HookSandbox

@Suite("The plan of a sandbox")
struct SandboxPlanTests {
    private let plan = SandboxPlan(
        level: .require, executable: "/h/run", arguments: ["open-url", "file:///a%20b"], bundle: "/h",
        dataFolder: "/d", temporaryFolder: "/t", inbox: "/Documents/Inbox \"x\"\u{1b}", readablePaths: ["/r"],
        writablePaths: ["/Bilder/Ü"], allowsSockets: true, forbiddenPlaces: ["/c"], newestABI: 3)

    @Test("a plan is read as it was written, on one line")
    func roundTrip() throws {
        let text = try plan.encoded()
        #expect(!text.contains("\n"))
        #expect(try SandboxPlan(encoded: text) == plan)
    }

    @Test("a plan with a relative path, NUL, or more than the limits is refused before anything is started")
    func refused() throws {
        func refuses(_ change: (inout SandboxPlan) -> Void) -> Bool {
            var changed = plan
            change(&changed)
            do throws(SandboxError) { _ = try changed.start() } catch { return true }
            return false
        }
        #expect(refuses { $0.executable = "run" })
        #expect(refuses { $0.bundle = "" })
        #expect(refuses { $0.inbox = "../Inbox" })
        #expect(refuses { $0.writablePaths = ["~/x"] })
        #expect(refuses { $0.temporaryFolder = "/t\0" })
        #expect(refuses { $0.arguments = ["a\0b"] })
        #expect(refuses { $0.dataFolder = "/" + String(repeating: "a", count: SandboxPlan.longestPath) })
        #expect(refuses { $0.arguments = Array(repeating: "", count: SandboxPlan.maximumArguments + 1) })
        #expect(refuses { $0.arguments = [String(repeating: "a", count: SandboxPlan.longestEncoding)] })
        #expect(refuses { $0.writablePaths = Array(repeating: "/", count: SandboxPlan.maximumPaths + 1) })
        #expect(refuses { $0.readablePaths = Array(repeating: "/", count: SandboxPlan.maximumPaths + 1) })
        #expect(refuses { $0.readablePaths = ["r"] })
        #expect(refuses { $0.forbiddenPlaces = ["c"] })
        #expect(!refuses { $0.level = .strict })
    }

    @Test("a text that is no plan, or an unusable one, is not read")
    func unreadable() throws {
        let good = try plan.encoded()
        let texts = [
            "", "null", "[]", String(good.dropLast()), good.replacing("require", with: "some"),
            good.replacing("\"/h/run\"", with: "\"h\""), String(repeating: "[", count: 90_000),
            good + String(repeating: " ", count: SandboxPlan.longestEncoding),
        ]
        for text in texts {
            #expect(throws: SandboxError.self) { _ = try SandboxPlan(encoded: text) }
        }
    }

    @Test("the launcher beside this program is started, with the plan in the environment alone")
    func start() throws {
        let start = try plan.start()
        #expect(start.program.hasSuffix("/wafthook"))
        #expect(access(start.program, X_OK) == 0)
        #expect(start.arguments == ["__sandboxed"])
        #expect(start.environment["TMPDIR"] == "/t")
        #expect(start.environment["WAFT_SANDBOX_PLAN"] == (try plan.encoded()))
    }

    @Test("each version of the ABI is asked for the rights it knows, and no others")
    func rights() {
        #expect(LandlockRights.known(abi: -1).rawValue == 0)
        #expect(LandlockRights.known(abi: 0).rawValue == 0)
        #expect(LandlockRights.known(abi: 1).rawValue == 0x1fff)
        #expect(LandlockRights.known(abi: 2).rawValue == 0x3fff)
        #expect(LandlockRights.known(abi: 3).rawValue == 0x7fff)
        #expect(LandlockRights.known(abi: 4).rawValue == 0x7fff)
        #expect(LandlockRights.known(abi: 5).rawValue == 0xffff)
        #expect(LandlockRights.known(abi: 99).rawValue == 0xffff)
        #expect(LandlockRights.writable == LandlockRights.known(abi: 99).subtracting(.makeDevice))
        #expect(LandlockRights.inbox.isDisjoint(with: [.execute, .write, .truncate, .make, .control]))
    }

    @Test("one line names the parts that the kernel has, and the rules that are not enforced without the others")
    func support() {
        func line(_ landlock: HookSandbox.Landlock, _ filter: HookSandbox.Filter = .asking) -> String {
            HookSandbox.Support(landlock: landlock, filter: filter).description
        }
        #expect(line(.abi(7)) == "Landlock ABI 7, seccomp")
        #expect(line(.abi(5)) == "Landlock ABI 5, seccomp: handlers can signal your other programs")
        #expect(line(.abi(2)).contains("handlers can truncate files anywhere; can signal"))
        #expect(line(.abi(1)).contains("cannot move files"))
        #expect(line(.unavailable(reason: "why")).hasPrefix("no Landlock (why), seccomp: handlers can read and write"))
        #expect(
            line(.abi(7), .refusing(reason: "old")).hasSuffix(
                "can change modes, times and labels of your files anywhere"))
        #expect(line(.abi(7), .unavailable(reason: "old")).contains("no seccomp (old): handlers can use the network"))
        #expect(HookSandbox.support.abi >= 0)
    }
}
