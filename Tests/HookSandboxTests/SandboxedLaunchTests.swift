import Glibc
import Testing

@testable import HookSandbox

/// Checks that hold on every kernel.
@Suite("The launcher")
struct SandboxedLaunchTests {
    let fixture: SandboxFixture

    init() throws { fixture = try SandboxFixture() }

    @Test(
        "the hook gets its arguments as they are, and its exit code is that of the process", arguments: [0, 1, 75, 127])
    func argumentsAndExit(code: Int32) throws {
        let awkward = ["a b", "", "$(id)", "-n", "ä\n'\""]
        #expect(try fixture.run(fixture.plan(["arguments"] + awkward)).output == awkward.joined(separator: "\n") + "\n")
        let run = try fixture.run(fixture.plan(["exit", "\(code)"]))
        #expect(run.exitCode == code)
        #expect(run.error.isEmpty)
        #expect(SandboxLaunchFailure(exitCode: run.exitCode, standardError: run.error) == nil)
    }

    @Test("the hook has TMPDIR, and not the plan, in its environment")
    func environment() throws {
        #expect(try fixture.answer("variable", "TMPDIR") == fixture.temporaryFolder)
        #expect(try fixture.answer("variable", "WAFT_SANDBOX_PLAN").isEmpty)
        let run = try fixture.run(fixture.shell("tr '\\0' '\\n' < /proc/self/environ; pwd"))
        #expect(!run.output.contains("SANDBOX"))
        #expect(run.output.hasSuffix(fixture.folder + "\n"))
    }

    @Test("the launcher leaves no descriptor of its own to the hook")
    func noDescriptors() throws {
        let start = try fixture.shell("exec ls /proc/self/fd").start(program: probe)
        let run = try Run(
            [probe, "clean", start.program] + start.arguments, environment: start.environment, folder: fixture.folder)
        // 3 is the folder that ls itself reads.
        #expect(run.output == "0\n1\n2\n3\n")
    }

    @Test("the hook gains no privileges")
    func noNewPrivileges() throws {
        let run = try fixture.run(fixture.shell("grep NoNewPrivs /proc/self/status"))
        #expect(run.output == "NoNewPrivs:\t1\n")
    }

    @Test("the hook leaves no core file and has the open files of the plan")
    func limits() throws {
        var plan = fixture.plan(["limits"])
        plan.limits = ResourceLimits(coreBytes: 0, openFiles: 100, maximumOpenFiles: 200)
        #expect(try fixture.run(plan).output == "0/0 100/200\n")
    }

    @Test("a limit that is lower already stays as it is")
    func lowerLimit() throws {
        var plan = fixture.plan(["limits"])
        plan.limits = ResourceLimits(coreBytes: 0, openFiles: 100, maximumOpenFiles: 200)
        let start = try plan.start(program: probe)
        let command = "ulimit -n 50; exec '\(probe)' __sandboxed"
        let run = try Run(["/bin/sh", "-c", command], environment: start.environment, folder: fixture.folder)
        #expect(run.output == "0/0 50/50\n")
    }

    @Test("a hook that is missing, not executable or no program is distinguished from its own exit")
    func notExecuted() throws {
        try fixture.make(fixture.folder + "/plain")
        try fixture.make(fixture.folder + "/text", "just text", mode: 0o700)
        let expected = [
            "missing": "No such file or directory", "plain": "Permission denied", "text": "it is neither a program",
        ]
        for (name, reason) in expected {
            var plan = fixture.plan([])
            plan.executable = fixture.folder + "/" + name
            let run = try fixture.run(plan)
            let failure = try #require(SandboxLaunchFailure(exitCode: run.exitCode, standardError: run.error))
            #expect(failure.isExecution)
            #expect(failure.message.hasPrefix("the hook could not be executed: \(plan.executable): \(reason)"))
            #expect(run.error.split(separator: "\n").count == 1)
        }
    }

    @Test("without Landlock, require executes nothing")
    func require() throws {
        var plan = fixture.plan(["write", fixture.folder + "/ran"], level: .require)
        plan.newestABI = 0
        let run = try fixture.run(plan)
        let failure = try #require(SandboxLaunchFailure(exitCode: run.exitCode, standardError: run.error))
        #expect(!failure.isExecution)
        #expect(failure.message.contains("it requires Landlock, which is not available"))
        #expect(!fixture.exists(fixture.folder + "/ran"))
    }

    @Test("without Landlock, strict continues with no new privileges and the limits")
    func bestEffort() throws {
        var plan = fixture.shell("echo x > '\(fixture.home)/new'; grep NoNewPrivs /proc/self/status; ulimit -n")
        plan.newestABI = 0
        plan.limits.openFiles = 99
        let run = try fixture.run(plan)
        #expect(run.exitCode == 0 && run.error.isEmpty)
        #expect(run.output == "NoNewPrivs:\t1\n99\n")
        #expect(fixture.exists(fixture.home + "/new"))
    }

    @Test("at the level none the hook has TMPDIR, and no rules and limits")
    func none() throws {
        #expect(try fixture.run(fixture.plan(["write", fixture.home + "/new"], level: .none)).output == "ok\n")
        var plan = fixture.shell("grep NoNewPrivs /proc/self/status; echo $TMPDIR; exit 3")
        plan.level = .none
        let run = try fixture.run(plan)
        #expect(run.output == "NoNewPrivs:\t0\n\(fixture.temporaryFolder)\n" && run.exitCode == 3)
    }

    @Test("a hook that a signal ends is seen to end by it", arguments: [SandboxPlan.Level.none, .strict])
    func signalled(level: SandboxPlan.Level) throws {
        for signal in [SIGKILL, SIGTERM, SIGSEGV] {
            var plan = fixture.shell("kill -\(signal) $$")
            plan.level = level
            #expect(try fixture.run(plan).exitCode == -signal, "\(signal)")
        }
    }

    @Test("the hook has the signals that the launcher was started with", arguments: [SandboxPlan.Level.none, .strict])
    func signalMask(level: SandboxPlan.Level) throws {
        var plan = fixture.shell("grep SigBlk /proc/self/status")
        plan.level = level
        #expect(try fixture.run(plan).output == "SigBlk:\t0000000000000000\n")
    }

    @Test("a launcher whose client has gone starts nothing")
    func clientGone() throws {
        var plan = fixture.plan(["write", fixture.folder + "/ran"])
        plan.client = 1
        #expect(try fixture.run(plan).error.contains("the process that asked for it has gone"))
        #expect(!fixture.exists(fixture.folder + "/ran"))
    }

    @Test(
        "a launcher without a plan, or with a broken one, reports it and executes nothing",
        arguments: [nil, "", "{}", "[1"])
    func brokenPlan(text: String?) throws {
        var environment: [String: String] = [:]
        if let text { environment["WAFT_SANDBOX_PLAN"] = text }
        let run = try Run([probe, "__sandboxed"], environment: environment, folder: fixture.folder)
        let failure = try #require(SandboxLaunchFailure(exitCode: run.exitCode, standardError: run.error))
        #expect(!failure.isExecution)
        #expect(failure.message.hasPrefix("the plan for the sandbox cannot be used"))
    }

    @Test("a program that is not called as the launcher runs normally")
    func notAsked() {
        SandboxedLaunch.runIfAsked(arguments: [])
        SandboxedLaunch.runIfAsked(arguments: ["waft"])
        SandboxedLaunch.runIfAsked(arguments: ["waft", "send", "__sandboxed"])
    }

    @Test("a hook's own exit with the launcher's codes is its own")
    func ownExit() {
        #expect(SandboxLaunchFailure(exitCode: 118, standardError: "something else\n") == nil)
        #expect(SandboxLaunchFailure(exitCode: 119, standardError: "") == nil)
        #expect(SandboxLaunchFailure(exitCode: 1, standardError: "waft-sandbox: x\n") == nil)
    }
}
