import Foundation
package import HandlerCatalog
import Logging
import Programs
package import Sharing

/// A handler that is started once and stays: it gets one line for each arrival, and answers with one line each.
///
/// It gets one question at a time, in the order of the calls.
package actor ResidentHandler {
    /// The result of a question.
    private enum Reply: Sendable {
        case answered(ResidentAnswer)
        /// Its output is no answer.
        case nonsense(String)
        case exited(ProgramExit)
        case outOfTime
        case cancelled
    }

    private struct Question {
        let id: Int
        let number: ArrivalNumber?
        let reply: CheckedContinuation<Reply, Never>
        /// Whether a notice followed the question: the item is about to leave the Inbox.
        var isMoving = false
        /// Whether a notice about the lock followed the question.
        var isNotified = false
    }

    /// Its settings change; all else stays.
    private var program: HandlerProgram
    private let runner: HandlerRunner
    private let idleTime: Duration
    private var pacing: RestartPacing
    private var process: ResidentProcess?
    private var question: Question?
    private var lastQuestion = 0
    /// Notices of items that are about to leave the Inbox, which some handlers answer as if they were questions.
    private var notices: [Int64: Int] = [:]
    /// The arrival of the caller that has the turn, and whether the item is about to leave before the handler is asked.
    private var next: (number: ArrivalNumber?, isMoving: Bool) = (nil, false)
    /// Ends a process whose answers could no longer be matched to questions.
    private var leaving: Task<Void, Never>?
    private var idling: Task<Void, any Error>?
    private var launching: Task<AttemptOutcome?, any Error>?
    /// Reads the output of the last process until that has ended.
    private var listening: Task<Void, Never>?
    private var isStopped = false
    /// Whether its settings changed during a question. Then the notice follows the answer.
    private var owesSettings = false
    /// The last notice about the lock, which waits for the end of a question, or for the start of the process.
    private var owedNotice: LaunchRules.Notice?
    private var isStarting = false
    /// Whether it left by itself and without a fault: it is started again when something arrives.
    private var hasLeft = false
    /// Starts a program that stays again after a failure.
    private var restarting: Task<Void, any Error>?
    private var begun = ContinuousClock.now
    /// Whether a caller has the turn, and the callers that wait for it.
    private var isTaken = false
    private var line: [CheckedContinuation<Void, Never>] = []

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
        self.idleTime = idleTime
        pacing = RestartPacing(first: firstWait, longest: longestWait)
    }

    /// The earliest time of a restart; until then callers get `later`. Nil if it may start now.
    package var notBefore: ContinuousClock.Instant? {
        process == nil && pacing.isWaiting(at: .now) ? pacing.notBefore : nil
    }

    package var isRunning: Bool { process != nil }

    /// Sends it one arrival, or a URL, and waits for its answer. Starts and launches it first if it is not running.
    ///
    /// - Throws: if the task is cancelled or the handler stopped: the attempt does not count.
    package func ask(_ call: HookCall) async throws(CancellationError) -> AttemptOutcome {
        await takeTurn()
        defer { passTurn() }
        guard !isStopped, !Task.isCancelled else { throw CancellationError() }
        idling?.cancel()
        next = (call.number, false)
        defer { next = (nil, false) }
        let outcome = try await answer(to: call)
        runner.log(outcome, program, call)
        if process != nil, !isStopped { idle() }
        return outcome
    }

    /// Starts a program that stays, unless it runs or has left by itself. A failure is tried again later.
    ///
    /// A program that is asked questions before it starts waits for its first item: the questions are about one.
    package func keep() async {
        guard program.keepsRunning, program.calls.isEmpty else { return }
        await takeTurn()
        defer { passTurn() }
        guard !isStopped, !hasLeft, process == nil else { return }
        if pacing.isWaiting(at: .now) { return startAgain() }
        await leaving?.value
        do {
            _ = try await begin()
        } catch {
            pacing.failed(at: .now)
            runner.logger.warning(
                "a resident handler does not start",
                metadata: [
                    "handler": "\(program.identifier)", "reason": "\(LaunchError.outcome(of: error, program).reason)",
                ])
            startAgain()
        }
    }

    private func startAgain() {
        guard program.keepsRunning, !isStopped, let notBefore = pacing.notBefore else { return }
        restarting?.cancel()
        restarting = Task {
            try await Task.sleep(until: notBefore)
            await keep()
        }
    }

    /// Ends it, and refuses all later calls. Returns when it has ended.
    package func stop() async {
        isStopped = true
        idling?.cancel()
        restarting?.cancel()
        launching?.cancel()
        resolve(.cancelled)
        await takeTurn()
        await retire()
        passTurn()
        await leaving?.value
        await listening?.value
    }

    // MARK: Asking

    private func answer(to call: HookCall) async throws(CancellationError) -> AttemptOutcome {
        let process: ResidentProcess
        if let running = self.process {
            process = running
            // Drops its output about earlier questions.
            await running.started.pipe.catchUp()
            running.started.capture.forget()
        } else {
            if pacing.isWaiting(at: .now) {
                return AttemptOutcome(.later, reason: "it failed a short time ago, and is not started again yet")
            }
            await leaving?.value
            if let refusal = try await launch(call) { return refusal }
            do {
                process = try await begin()
            } catch {
                pacing.failed(at: .now)
                return LaunchError.outcome(of: error, program)
            }
        }
        guard let document = try? runner.noting(call).document(program.settings) else {
            return AttemptOutcome(.failed, reason: "it could not be given this item")
        }
        let reply = await ask(process, document, number: call.number)
        return try await outcome(of: reply, process)
    }

    private func ask(_ process: ResidentProcess, _ document: [UInt8], number: ArrivalNumber?) async -> Reply {
        lastQuestion += 1
        let id = lastQuestion
        let timer = Task { [limit = program.timeLimit] in
            try await Task.sleep(for: limit)
            resolve(.outOfTime, id: id)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { reply in
                // It may have ended, or the task been cancelled, in the meantime.
                if self.process !== process {
                    reply.resume(returning: .exited(process.started.process.exit ?? .unknown))
                } else if Task.isCancelled || isStopped {
                    reply.resume(returning: .cancelled)
                } else {
                    question = Question(id: id, number: number, reply: reply)
                    process.tell(document)
                    if let number, next.isMoving { itemWillMove(number) }
                }
            }
        } onCancel: {
            Task { await self.resolve(.cancelled, id: id) }
        }
    }

    /// Notifies it that an item is about to leave the Inbox, if its question about the item is still open.
    package func itemWillMove(_ number: ArrivalNumber) {
        // With the question still on its way, the notice would be the second line that the handler has not read.
        guard let process, question?.number == number, process.hasBeenTold else {
            if question == nil, next.number == number { next.isMoving = true }
            return
        }
        question?.isMoving = true
        notices[number.value, default: 0] += 1
        tell(MoveNotice(number: number), to: process)
    }

    /// Uses other values of its settings, and notifies it if it runs.
    ///
    /// Never during a question: it could answer that before it has read the notice.
    package func use(_ settings: [String: HandlerSettingValue]) {
        guard settings != program.settings else { return }
        program.settings = settings
        if question == nil { tellSettings() } else { owesSettings = true }
    }

    /// Notifies it of the lock, if it runs or starts; during a question too, once it has got all of it.
    package func tell(_ notice: LaunchRules.Notice) {
        guard let process else {
            if isStarting { owedNotice = notice }
            return
        }
        guard question == nil || process.hasBeenTold else {
            owedNotice = notice
            return
        }
        question?.isNotified = true
        tellNow(notice, to: process)
    }

    private func tellNow(_ notice: LaunchRules.Notice, to process: ResidentProcess) {
        if let line = try? runner.noting(.notice(notice)).document([:]) { process.tell(line) }
    }

    private func tellSettings() {
        owesSettings = false
        if let process { tell(SettingsNotice(program.settings), to: process) }
    }

    private func tell(_ notice: some Encodable, to process: ResidentProcess) {
        if let line = try? InputDocument.line(notice) { process.tell(line) }
    }

    private func resolve(_ reply: Reply, id: Int? = nil) {
        guard let question, id == nil || question.id == id else { return }
        self.question = nil
        question.reply.resume(returning: reply)
        if owesSettings { tellSettings() }
        if let notice = owedNotice.take(), let process { tellNow(notice, to: process) }
    }

    private func outcome(
        of reply: Reply, _ process: ResidentProcess
    ) async throws(CancellationError) -> AttemptOutcome {
        let started = process.started
        switch reply {
        case .answered(let answer):
            pacing.answered()
            return await started.outcome(answer.answer, reason: answer.reason)
        case .nonsense(let reason):
            await dismiss(process)
            return await started.outcome(.failed, reason: reason)
        case .exited(let exit):
            switch exit {
            case .code(let code):
                if let failure = await started.launchFailure(exitCode: code) {
                    let trouble = LaunchError.reason(failure, program)
                    return await started.outcome(trouble.isPassing ? .later : .failed, reason: trouble.reason)
                }
                return await started.outcome(
                    .later, exitCode: code, reason: "it left with exit code \(code) before it answered")
            case .signal(let signal):
                return await started.outcome(
                    .later, signal: signal, reason: "it was ended by signal \(signal) before it answered")
            case .unknown:
                return await started.outcome(.later, reason: "it left before it answered")
            }
        case .outOfTime:
            await dismiss(process)
            return await started.outcome(.later, reason: "out of time after \(program.timeLimit)")
        case .cancelled:
            await dismiss(process)
            throw CancellationError()
        }
    }

    // MARK: The process

    /// `stop` ends it too.
    private func launch(_ call: HookCall) async throws(CancellationError) -> AttemptOutcome? {
        if isStopped { throw CancellationError() }
        let launching = Task { [program, runner] in try await runner.launch(program, call) }
        self.launching = launching
        let result = await withTaskCancellationHandler {
            await launching.result
        } onCancel: {
            launching.cancel()
        }
        self.launching = nil
        switch result {
        case .success(let outcome): return outcome
        case .failure: throw CancellationError()
        }
    }

    private func begin() async throws -> ResidentProcess {
        let settings = program.settings
        (owedNotice, isStarting) = (nil, true)
        defer { isStarting = false }
        let process = try await ResidentProcess.start(program, runner)
        self.process = process
        (begun, hasLeft) = (.now, false)
        notices = [:]
        owesSettings = false
        if program.settings != settings { tellSettings() }
        if let notice = owedNotice.take() { tellNow(notice, to: process) }
        let earlier = listening
        listening = Task {
            for await line in process.lines { heard(line, from: process) }
            await ended(process, await process.started.process.ending())
            // Of a process that was retired a moment ago: the handler has stopped when all its processes have.
            await earlier?.value
        }
        return process
    }

    private func heard(_ line: ResidentProcess.Line, from process: ResidentProcess) {
        guard process === self.process, !process.wasDismissed, !isAnswerToNotice(line) else { return }
        if question == nil {
            misbehaved(process, "it answered without a question")
        } else {
            let reply = reply(line, from: process)
            if question?.isMoving == true, case .answered(let answer) = reply, !answer.isNumbered { letGo(process) }
            resolve(reply)
        }
    }

    /// Whether a line answers a notice and no question: each notice may get one such answer.
    private func isAnswerToNotice(_ line: ResidentProcess.Line) -> Bool {
        guard let number = line.flatMap(ResidentAnswer.number), question?.number?.value != number,
            let count = notices[number]
        else { return false }
        notices[number] = count > 1 ? count - 1 : nil
        return true
    }

    private func reply(_ line: ResidentProcess.Line, from process: ResidentProcess) -> Reply {
        guard let line else {
            return .nonsense("it answered a line of more than \(ResidentAnswer.longestLine >> 10) KiB")
        }
        guard process.hasBeenTold || question?.isMoving == true || question?.isNotified == true else {
            return .nonsense("it answered before it had read the question")
        }
        do throws(ResidentAnswer.FormatError) {
            return .answered(try ResidentAnswer(line, to: question?.number))
        } catch {
            return .nonsense(error.reason)
        }
    }

    /// It may answer the notice too, without a number: that would count as the answer to the next question.
    private func letGo(_ process: ResidentProcess) {
        self.process = nil
        idling?.cancel()
        let leaving = Task { await process.retire(grace: runner.grace) }
        self.leaving = leaving
        guard program.keepsRunning else { return }
        Task {
            await leaving.value
            await keep()
        }
    }

    /// Its output matches no question: it is ended, and the next caller waits until it has ended.
    private func misbehaved(_ process: ResidentProcess, _ reason: String) {
        runner.logger.warning(
            "a resident handler is ended", metadata: ["handler": "\(program.identifier)", "reason": "\(reason)"])
        idling?.cancel()
        Task {
            await takeTurn()
            if process === self.process { await dismiss(process) }
            passTurn()
        }
    }

    /// Ends it for a fault.
    private func dismiss(_ process: ResidentProcess) async {
        if process === self.process { self.process = nil }
        pacing.failed(at: .now)
        await process.end(grace: runner.grace)
        startAgain()
    }

    private func ended(_ process: ResidentProcess, _ exit: ProgramExit) async {
        if process === self.process {
            self.process = nil
            idling?.cancel()
            hasLeft = exit == .code(0)
            if exit != .code(0), !process.wasDismissed {
                // A handler that has worked for long starts with the shortest pause again.
                if begun + pacing.longest <= .now { pacing.answered() }
                pacing.failed(at: .now)
                runner.logger.warning(
                    "a resident handler left", metadata: ["handler": "\(program.identifier)", "exit": "\(exit)"])
                // Otherwise processes that it had started could run beside those of the next process.
                await process.end(grace: runner.grace)
                startAgain()
            }
            resolve(.exited(exit))
        }
        // The caller still needs its output.
        await takeTurn()
        await process.finish(runner.leftovers)
        passTurn()
    }

    // MARK: Idling

    private func idle() {
        idling?.cancel()
        guard !program.keepsRunning else { return }
        idling = Task {
            try await Task.sleep(for: idleTime)
            await takeTurn()
            if !Task.isCancelled { await retire() }
            passTurn()
        }
    }

    private func retire() async {
        guard let process else { return }
        self.process = nil
        await process.retire(grace: runner.grace)
    }

    // MARK: Turns

    private func takeTurn() async {
        if isTaken {
            await withCheckedContinuation { line.append($0) }
        } else {
            isTaken = true
        }
    }

    private func passTurn() {
        if line.isEmpty { isTaken = false } else { line.removeFirst().resume() }
    }
}

/// A notice to a resident handler: its settings have changed. It must not be answered.
struct SettingsNotice: Encodable {
    var v = 1
    var call = "defaults-did-change"
    /// All settings, also those that are as before.
    var settings: [String: HandlerSettingValue]

    init(_ settings: [String: HandlerSettingValue]) { self.settings = settings }
}

/// How long a resident handler that failed is not restarted: longer each time, until it answers again.
struct RestartPacing: Sendable {
    /// The first wait.
    let first: Duration
    /// The longest.
    let longest: Duration
    /// The earliest time of a restart; nil if it may restart now.
    private(set) var notBefore: ContinuousClock.Instant?
    private var next: Duration

    init(first: Duration = .seconds(1), longest: Duration = .seconds(600)) {
        self.first = first
        self.longest = longest
        next = first
    }

    mutating func failed(at now: ContinuousClock.Instant) {
        notBefore = now + next
        next = min(next * 2, longest)
    }

    mutating func answered() {
        notBefore = nil
        next = first
    }

    /// Whether a restart must still wait.
    func isWaiting(at now: ContinuousClock.Instant) -> Bool {
        notBefore.map { now < $0 } ?? false
    }
}
