import Testing

@testable import HookSandbox

@Suite("The plan of a sandbox")
struct SandboxPlanTests {
    private let plan = SandboxPlan(
        level: .require, executable: "/h/run", arguments: ["open-url", "file:///a%20b"], folder: "/h",
        temporaryFolder: "/t", inbox: "/Documents/Inbox \"x\"\u{1b}", writablePaths: ["/Bilder/Ü"], newestABI: 3)

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
        #expect(refuses { $0.folder = "" })
        #expect(refuses { $0.inbox = "../Inbox" })
        #expect(refuses { $0.writablePaths = ["~/x"] })
        #expect(refuses { $0.temporaryFolder = "/t\0" })
        #expect(refuses { $0.arguments = ["a\0b"] })
        #expect(refuses { $0.folder = "/" + String(repeating: "a", count: SandboxPlan.longestPath) })
        #expect(refuses { $0.arguments = Array(repeating: "", count: SandboxPlan.mostArguments + 1) })
        #expect(refuses { $0.arguments = [String(repeating: "a", count: SandboxPlan.longestEncoding)] })
        #expect(refuses { $0.writablePaths = Array(repeating: "/", count: SandboxPlan.mostWritablePaths + 1) })
        #expect(!refuses { $0.level = .strict })
    }

    @Test("what is no plan, or one that cannot be used, is not read")
    func unreadable() throws {
        let good = try plan.encoded()
        let texts = [
            "", "null", "[]", String(good.dropLast()), good.replacing("require", with: "some"),
            good.replacing("\"/h\"", with: "\"h\""), String(repeating: "[", count: 90_000),
            good + String(repeating: " ", count: SandboxPlan.longestEncoding),
        ]
        for text in texts {
            #expect(throws: SandboxError.self) { _ = try SandboxPlan(encoded: text) }
        }
    }

    @Test("this program is started again as the launcher, with the plan in the environment alone")
    func start() throws {
        let start = try plan.start()
        #expect(start.program == "/proc/self/exe")
        #expect(start.arguments == ["__sandboxed"])
        #expect(start.environment["TMPDIR"] == "/t")
        #expect(start.environment["WAFT_SANDBOX_PLAN"] == (try plan.encoded()))
    }

    @Test("each version of the ABI is asked for the rights it knows, and no others")
    func rights() {
        #expect(LandlockRights.known(abi: -1).rawValue == 0)
        #expect(LandlockRights.known(abi: 0).rawValue == 0)
        #expect(LandlockRights.known(abi: 1).rawValue == 0x1ff2)
        #expect(LandlockRights.known(abi: 2).rawValue == 0x3ff2)
        #expect(LandlockRights.known(abi: 3).rawValue == 0x7ff2)
        #expect(LandlockRights.known(abi: 4).rawValue == 0x7ff2)
        #expect(LandlockRights.known(abi: 5).rawValue == 0xfff2)
        #expect(LandlockRights.known(abi: 99) == .writable)
        #expect(LandlockRights.inbox.isDisjoint(with: [.write, .truncate, .make, .control]))
    }

    @Test("what the kernel can do is said in one line, with what it cannot")
    func support() {
        #expect(HookSandbox.Support.landlock(abi: 7).description == "Landlock ABI 7")
        #expect(HookSandbox.Support.landlock(abi: 2).description.contains("truncate"))
        #expect(HookSandbox.Support.landlock(abi: 1).description.contains("move"))
        #expect(HookSandbox.Support.unavailable(reason: "why").description.hasPrefix("no Landlock (why)"))
        #expect(HookSandbox.support.abi >= 0)
    }
}
