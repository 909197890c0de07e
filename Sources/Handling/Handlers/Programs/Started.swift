import HookSandbox
import Logging
import Programs
import Sharing

/// A program that was started, with its resources.
struct Started: Sendable {
    /// The launcher.
    let process: RunningProgram
    let program: HandlerProgram
    let plan: SandboxPlan
    let scratch: ScratchFolder
    /// Its output.
    let capture: OutputCapture
    let pipe: DrainedPipe
    let logger: Logger

    /// The answer with the end of its output, and with remarks on refused writes.
    func outcome(
        _ answer: AttemptOutcome.Answer, exitCode: Int? = nil, signal: Int? = nil, reason: String = ""
    ) async -> AttemptOutcome {
        await pipe.catchUp()
        let tail = capture.tail
        let remarks = denials(in: tail)
        for remark in remarks {
            logger.warning("\(remark)", metadata: ["handler": "\(program.identifier)"])
        }
        return AttemptOutcome(
            answer, exitCode: exitCode, signal: signal, reason: reason,
            standardError: KeptOutput.text(tail, remarks: remarks))
    }

    /// The readable lines about writes that the sandbox seems to have refused.
    private func denials(in tail: [UInt8]) -> [String] {
        guard plan.level != .none, HookSandbox.support.abi > 0 else { return [] }
        let owner: SandboxDenial.Owner = program.isConfiguredHook ? .configuredHook : .bundle
        return SandboxDenial.denials(in: String(decoding: tail, as: UTF8.self), plan: plan)
            .map { ShownText.escaped($0.text(for: owner)) }
    }

    func launchFailure(exitCode: Int) async -> SandboxLaunchFailure? {
        guard let code = Int32(exactly: exitCode) else { return nil }
        await pipe.catchUp()
        return SandboxLaunchFailure(exitCode: code, standardError: String(decoding: capture.tail, as: UTF8.self))
    }

    /// Removes the resources of the program. Its output is still read as long as any process holds the pipe.
    func finish(_ leftovers: LeftoverPipes) async {
        capture.stopKeeping()
        if !pipe.isAtEnd { leftovers.keep(pipe) }
        await scratch.remove()
    }
}

extension RunningProgram {
    /// The last signal. A killed process that hangs in a system call of a dead disk may take for ever.
    private static let kill = [EndStep(SandboxPlan.endSignal, .seconds(10))]

    /// Asks all its processes to leave, and kills the rest after `grace`.
    ///
    /// The launcher passes the signals on, and exits once its processes have ended.
    func end(grace: Duration) async { await end([EndStep(SandboxPlan.leaveSignal, grace)] + Self.kill) }

    /// Kills all its processes, the program itself before those that it has started.
    func endNow() async { await end(Self.kill) }
}
