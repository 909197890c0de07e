import Programs
import Sharing

/// The events of its process.
extension ResidentLedger {
    // MARK: Start

    /// - Parameter refusal: the outcome of the call, if the handler does not want it.
    mutating func launched(_ refusal: AttemptOutcome?, at now: ContinuousClock.Instant) -> [Action] {
        guard case .launching(let call) = state else { preconditionFailure("it was not launching") }
        let isCancelled = calls[call]?.isCancelled == true
        if !isCancelled, refusal == nil { return [start(.call(call))] }
        state = .resting
        let end = isCancelled ? cancelled(call) : refusal.map { refused(call, $0) }
        return [end].compactMap(\.self) + nextTurn(at: now)
    }

    mutating func failedToStart(_ outcome: AttemptOutcome, at now: ContinuousClock.Instant) -> [Action] {
        guard case .starting(let turn, _, _, _) = state else { preconditionFailure("it was not starting") }
        state = .resting
        pacing.failed(at: now)
        var actions: [Action] = []
        switch turn {
        // An end by a cancel is no attempt.
        case .call(let call) where isStopping || calls[call]?.isCancelled == true: actions = [cancelled(call)]
        case .call(let call): actions = [refused(call, outcome)]
        case .keep(let waiter):
            actions = [.warn("a resident handler does not start", about: "reason", outcome.reason)]
            actions += Self.released(waiter)
        }
        return actions + nextTurn(at: now)
    }

    mutating func began(at now: ContinuousClock.Instant) -> [Action] {
        guard case .starting(let turn, let process, let used, let notice) = state else {
            preconditionFailure("it was not starting")
        }
        processes[process] = Process(begun: now)
        hasLeft = false
        var actions: [Action] = []
        if settings != used { actions.append(.tell(.settings(settings), process: process)) }
        if let notice { actions.append(.tell(.lock(notice), process: process)) }
        switch turn {
        case .call(let call) where isStopping || calls[call]?.isCancelled == true:
            return end(process, call, nil, at: now)
        case .call(let call): return actions + [ask(call, process, at: now)]
        case .keep(let waiter): return actions + Self.released(waiter) + runOn(process, at: now)
        }
    }

    // MARK: Questions

    /// Its output about earlier questions was dropped.
    mutating func caughtUp(_ process: Int, at now: ContinuousClock.Instant) -> [Action] {
        guard case .preparing(let call, process) = state else { return [] }
        return [ask(call, process, at: now)]
    }

    private mutating func ask(_ call: Int, _ process: Int, at now: ContinuousClock.Instant) -> Action {
        state = .asked(Question(call: call, asked: now), process: process)
        return .ask(call: call, process: process, settings, isMoving: calls[call]?.isMoving == true)
    }

    /// The question could not be written: it was not asked.
    mutating func failedToAsk(_ outcome: AttemptOutcome, at now: ContinuousClock.Instant) -> [Action] {
        guard case .asked(let question, let process) = state else { preconditionFailure("nothing was asked") }
        return [refused(question.call, outcome)] + runOn(process, at: now)
    }

    /// It wrote a line; nil for one that is too long.
    /// - Parameter hasRead: as for `itemWillMove`.
    mutating func heard(
        _ line: [UInt8]?, from process: Int, hasRead: Bool, at now: ContinuousClock.Instant
    ) -> [Action] {
        guard process == self.process, !isAnswerToNotice(line, from: process) else { return [] }
        guard case .asked(let question, _) = state else {
            // The next question goes to another process.
            if let openCall { self.line.insert(.call(openCall), at: 0) }
            return [.warn("a resident handler is ended", about: "reason", "it answered without a question")]
                + end(process, nil, nil, at: now)
        }
        let reply = reply(line, to: question, isRead: hasRead || question.isRead)
        guard case .answered(let answer) = reply else { return end(process, question.call, reply, at: now) }
        pacing.answered()
        var actions = [concluded(question.call, reply, process)]
        // It may answer the notice too, without a number: that would count as the answer to the next question.
        if question.isMoving, !answer.isNumbered { return actions + retire(process) }
        state = .concluding(process: process)
        if question.owesSettings { actions.append(.tell(.settings(settings), process: process)) }
        if let notice = question.owedLock { actions.append(.tell(.lock(notice), process: process)) }
        return actions
    }

    /// Whether a line answers a notice and no question: each notice may get one such answer.
    private mutating func isAnswerToNotice(_ line: [UInt8]?, from process: Int) -> Bool {
        guard let number = line.flatMap(ResidentAnswer.number), let count = processes[process]?.notices[number]
        else { return false }
        if case .asked(let question, _) = state, calls[question.call]?.arrival?.value == number { return false }
        processes[process]?.notices[number] = count > 1 ? count - 1 : nil
        return true
    }

    private func reply(_ line: [UInt8]?, to question: Question, isRead: Bool) -> Reply {
        guard let line else {
            return .nonsense("it answered a line of more than \(ResidentAnswer.longestLine >> 10) KiB")
        }
        guard isRead else { return .nonsense("it answered before it had read the question") }
        do throws(ResidentAnswer.FormatError) {
            return .answered(try ResidentAnswer(line, to: calls[question.call]?.arrival))
        } catch {
            return .nonsense(error.reason)
        }
    }

    /// The call has returned with its output.
    mutating func concluded(_ process: Int, at now: ContinuousClock.Instant) -> [Action] {
        processes[process]?.isInUse = false
        let actions = finish(process)
        guard case .concluding(process) = state else { return actions }
        return actions + runOn(process, at: now)
    }

    // MARK: End

    /// It has exited, and all its lines were heard.
    mutating func exited(_ process: Int, _ exit: ProgramExit, at now: ContinuousClock.Instant) -> [Action] {
        processes[process]?.hasExited = true
        guard process == self.process else { return finish(process) }
        var actions: [Action] = []
        hasLeft = exit == .code(0)
        if !hasLeft {
            // A handler that has worked for long starts with the shortest pause again.
            if let begun = processes[process]?.begun, begun + pacing.longest <= now { pacing.answered() }
            pacing.failed(at: now)
            actions.append(.warn("a resident handler left", about: "exit", "\(exit)"))
        }
        if let openCall { actions.append(concluded(openCall, .exited(exit), process)) }
        state = .resting
        return actions + finish(process) + nextTurn(at: now)
    }

    /// It was ended, as far as that was possible.
    mutating func departed(_ process: Int, at now: ContinuousClock.Instant) -> [Action] {
        guard case .leaving(process, let call, let reply) = state else { preconditionFailure("it was not leaving") }
        state = .resting
        var actions: [Action] = []
        if let call { actions = [reply.map { concluded(call, $0, process) } ?? cancelled(call)] }
        if rules.isKept, !isStopping { line.append(.keep(waiter: nil)) }
        return actions + nextTurn(at: now)
    }

    private func finish(_ process: Int) -> [Action] {
        guard let known = processes[process], known.hasExited, !known.isInUse else { return [] }
        return [.finish(process: process)]
    }

    /// Its resources were removed.
    mutating func finished(_ process: Int, at now: ContinuousClock.Instant) -> [Action] {
        processes[process] = nil
        return nextTurn(at: now)
    }
}
