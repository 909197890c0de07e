import Foundation
package import HandlerCatalog
import Logging
import Programs
package import Sharing
import Streams

/// A handler that is started once and stays: it gets one line for each arrival, and answers with one line each.
///
/// It gets one question at a time, in the order of the calls. `ResidentLedger` decides; this actor carries out.
package actor ResidentHandler {
    private typealias Outcome = Result<AttemptOutcome, CancellationError>

    private struct Caller {
        let call: HookCall
        let outcome: CheckedContinuation<Outcome, Never>
    }

    /// Its settings are the ledger's.
    private let program: HandlerProgram
    private let runner: HandlerRunner
    private var ledger: ResidentLedger
    /// Calls and waiters by their common numbers.
    private var callers: [Int: Caller] = [:]
    private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastNumber = 0
    private var processes: [Int: ResidentProcess] = [:]
    private var launching: Task<Void, Never>?
    private var alarm: (time: ContinuousClock.Instant, task: Task<Void, Never>)?

    /// - Parameters:
    ///   - idleTime: how long it keeps running with nothing to do.
    ///   - firstWait: delay of the restart after a failure; doubled each time until it answers again.
    ///   - longestWait: the maximum of that delay.
    package init(
        program: HandlerProgram,
        runner: HandlerRunner,
        idleTime: Duration = .seconds(300),
        firstWait: Duration = .seconds(1),
        longestWait: Duration = .seconds(600)
    ) {
        self.program = program
        self.runner = runner
        let rules = ResidentLedger.Rules(
            timeLimit: program.timeLimit, idleTime: program.keepsRunning ? nil : idleTime,
            // The questions before a start are about an item.
            isKept: program.keepsRunning && program.calls.isEmpty)
        ledger = ResidentLedger(
            rules, settings: program.settings, pacing: RestartPacing(first: firstWait, longest: longestWait))
    }

    /// The earliest time of a restart; until then callers get `later`. Nil if it may start now.
    package var notBefore: ContinuousClock.Instant? { ledger.notBefore(at: .now) }

    package var isRunning: Bool { ledger.process != nil }

    // MARK: Events

    /// Sends it one arrival, or a URL, and waits for its answer. Starts and launches it first if it is not running.
    ///
    /// - Throws: if the task is cancelled or the handler stopped: the attempt does not count.
    package func ask(_ call: HookCall) async throws(CancellationError) -> AttemptOutcome {
        let number = nextNumber()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (outcome: CheckedContinuation<Outcome, Never>) in
                guard !Task.isCancelled else { return outcome.resume(returning: .failure(CancellationError())) }
                callers[number] = Caller(call: call, outcome: outcome)
                perform(ledger.call(number, about: call.number, at: .now))
            }
        } onCancel: {
            Task { await self.cancel(number) }
        }
        return try result.get()
    }

    private func cancel(_ call: Int) {
        perform(ledger.cancel(call, at: .now))
    }

    /// Starts a program that stays, unless it runs or has left by itself. A failure is tried again later.
    ///
    /// A program that is asked questions before it starts waits for its first item: the questions are about one.
    package func keep() async {
        let number = nextNumber()
        await withCheckedContinuation {
            waiters[number] = $0
            perform(ledger.keep(waiter: number, at: .now))
        }
    }

    /// Ends it, and refuses all later calls. Returns when it has ended.
    package func stop() async {
        let number = nextNumber()
        await withCheckedContinuation {
            waiters[number] = $0
            perform(ledger.stop(waiter: number, at: .now))
        }
    }

    /// Notifies it that an item is about to leave the Inbox, if its question about the item is still open.
    package func itemWillMove(_ number: ArrivalNumber) {
        perform(ledger.itemWillMove(number, hasRead: hasRead))
    }

    /// Uses other values of its settings, and notifies it if it runs.
    package func use(_ settings: [String: HandlerSettingValue]) {
        perform(ledger.use(settings))
    }

    /// Notifies it of the lock, if it runs or starts.
    package func tell(_ notice: LaunchRules.Notice) {
        perform(ledger.tell(notice, hasRead: hasRead))
    }

    private var hasRead: Bool { ledger.process.flatMap { processes[$0] }?.hasBeenTold ?? true }

    private func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Actions

    private func perform(_ actions: [ResidentLedger.Action]) {
        var actions = actions[...]
        while let action = actions.popFirst() { actions += carryOut(action) }
        setAlarm()
    }

    private func setAlarm() {
        guard ledger.alarm != alarm?.time else { return }
        alarm?.task.cancel()
        alarm = ledger.alarm.map { time in
            let task = Task {
                await Patience.wait(until: time)
                guard !Task.isCancelled else { return }
                perform(ledger.timePassed(at: .now))
            }
            return (time, task)
        }
    }

    /// - Returns: the actions that follow at once.
    private func carryOut(_ action: ResidentLedger.Action) -> [ResidentLedger.Action] {
        switch action {
        case .launch(let call): launch(call)
        case .cutLaunch: launching?.cancel()
        case .start(let process, let settings): start(process, settings)
        case .catchUp(let process): catchUp(process)
        case .ask(let call, let process, let settings, let isMoving):
            return ask(call, process, settings, isMoving: isMoving)
        case .tell(let notice, let process): tell(notice, to: process)
        case .end(let process): end(process) { [grace = runner.grace] in await $0.end(grace: grace) }
        case .retire(let process): end(process) { [grace = runner.grace] in await $0.retire(grace: grace) }
        case .conclude(let call, let reply, let process): conclude(call, reply, process)
        case .refuse(let call, let outcome): give(.success(outcome), to: call)
        case .cancel(let call): give(.failure(CancellationError()), to: call)
        case .release(let waiter): waiters.removeValue(forKey: waiter)?.resume()
        case .finish(let process): finish(process)
        case .warn(let text, let key, let value):
            runner.logger.warning("\(text)", metadata: ["handler": "\(program.identifier)", key: "\(value)"])
        }
        return []
    }

    private func program(with settings: [String: HandlerSettingValue]) -> HandlerProgram {
        var program = program
        program.settings = settings
        return program
    }

    private func launch(_ number: Int) {
        guard let call = callers[number]?.call else { return }
        let program = program(with: ledger.settings)
        launching = Task {
            // If it was cut, the ledger knows.
            let refusal = try? await runner.launch(program, call)
            perform(ledger.launched(refusal, at: .now))
        }
    }

    /// Starts a process, and hears it until it has exited.
    private func start(_ number: Int, _ settings: [String: HandlerSettingValue]) {
        let program = program(with: settings)
        Task {
            let process: ResidentProcess
            do {
                process = try await ResidentProcess.start(program, runner)
            } catch {
                return perform(ledger.failedToStart(LaunchError.outcome(of: error, program), at: .now))
            }
            processes[number] = process
            perform(ledger.began(at: .now))
            for await line in process.lines {
                perform(ledger.heard(line, from: number, hasRead: process.hasBeenTold, at: .now))
            }
            let exit = await process.started.process.ending()
            perform(ledger.exited(number, exit, at: .now))
        }
    }

    private func catchUp(_ number: Int) {
        guard let started = processes[number]?.started else { return }
        Task {
            await started.pipe.catchUp()
            started.capture.forget()
            perform(ledger.caughtUp(number, at: .now))
        }
    }

    private func ask(
        _ number: Int, _ process: Int, _ settings: [String: HandlerSettingValue], isMoving: Bool
    ) -> [ResidentLedger.Action] {
        guard let call = callers[number]?.call, let process = processes[process],
            let document = try? runner.noting(call).document(settings)
        else {
            return ledger.failedToAsk(
                AttemptOutcome(.failed, reason: "it could not be given this item"), at: .now)
        }
        process.tell(document)
        guard isMoving, let arrival = call.number else { return [] }
        return ledger.itemWillMove(arrival, hasRead: process.hasBeenTold)
    }

    private func tell(_ notice: ResidentLedger.Notice, to process: Int) {
        let line =
            switch notice {
            case .move(let number): try? InputDocument.line(MoveNotice(number: number))
            case .settings(let settings): try? InputDocument.line(SettingsNotice(settings))
            case .lock(let notice): try? runner.noting(.notice(notice)).document([:])
            }
        if let line { processes[process]?.tell(line) }
    }

    private func end(_ number: Int, _ way: @escaping @Sendable (ResidentProcess) async -> Void) {
        guard let process = processes[number] else { return }
        Task {
            await way(process)
            perform(ledger.departed(number, at: .now))
        }
    }

    private func finish(_ number: Int) {
        guard let process = processes.removeValue(forKey: number) else { return }
        Task {
            await process.finish(runner.leftovers)
            perform(ledger.finished(number, at: .now))
        }
    }

    private func conclude(_ call: Int, _ reply: ResidentLedger.Reply, _ number: Int) {
        guard let started = processes[number]?.started else { return }
        Task {
            give(.success(await outcome(of: reply, started)), to: call)
            perform(ledger.concluded(number, at: .now))
        }
    }

    private func give(_ result: Outcome, to number: Int) {
        guard let caller = callers.removeValue(forKey: number) else { return }
        if case .success(let outcome) = result { runner.log(outcome, program, caller.call) }
        caller.outcome.resume(returning: result)
    }

    private func outcome(of reply: ResidentLedger.Reply, _ started: Started) async -> AttemptOutcome {
        switch reply {
        case .answered(let answer):
            return await started.outcome(answer.answer, reason: answer.reason)
        case .nonsense(let reason):
            return await started.outcome(.failed, reason: reason)
        case .outOfTime:
            return await started.outcome(.later, reason: "out of time after \(program.timeLimit)")
        case .exited(.code(let code)):
            if let failure = await started.launchFailure(exitCode: code) {
                let trouble = LaunchError.reason(failure, program)
                return await started.outcome(trouble.isPassing ? .later : .failed, reason: trouble.reason)
            }
            return await started.outcome(
                .later, exitCode: code, reason: "it left with exit code \(code) before it answered")
        case .exited(.signal(let signal)):
            return await started.outcome(
                .later, signal: signal, reason: "it was ended by signal \(signal) before it answered")
        case .exited(.unknown):
            return await started.outcome(.later, reason: "it left before it answered")
        }
    }
}
