package import HandlerCatalog
package import Sharing
private import Synchronization

/// Calls handlers' programs: starts one for each call, except for resident handlers.
package final class HandlerCalls: HandlerCalling {
    private struct State {
        var residents: [String: (program: HandlerProgram, resident: ResidentHandler)] = [:]
        var isStopped = false
        /// Sealed items whose clear copies programs have taken.
        var taken: Set<ArrivalNumber> = []
        /// The last settings of each resident program. Those of a call may be older: its clear copies take time.
        var settings: [String: [String: HandlerSettingValue]] = [:]

        func current(_ program: HandlerProgram) -> HandlerProgram {
            var program = program
            program.settings = settings[program.identifier] ?? program.settings
            return program
        }
    }

    private let runner: HandlerRunner
    private let state = Mutex(State())

    package init(runner: HandlerRunner) {
        self.runner = runner
    }

    package func absence(of program: HandlerProgram) -> String? { program.absence }

    package func hasTaken(_ number: ArrivalNumber) -> Bool {
        state.withLock { $0.taken.remove(number) != nil }
    }

    /// A sealed item is opened for the time of the call.
    package func call(_ call: DeliveryCall) async -> CallResult {
        guard call.items.contains(where: { $0.arrival.protection.isSealed }) else { return await give(call) }
        guard let copies = runner.copies else {
            return .answered(AttemptOutcome(.later, reason: "sealed items cannot be opened here"))
        }
        var open = call
        let arrivals: [Arrival]
        do throws(ClearCopyError) {
            arrivals = try copies.open(call.items.map(\.arrival), for: call.candidate.program.identifier)
        } catch {
            if case .tooLarge(let reason) = error { return await stream(call, from: copies, instead: reason) }
            return Self.result(error)
        }
        for (index, arrival) in arrivals.enumerated() { open.items[index].arrival = arrival }
        let result = await give(open, endingAtLock: copies)
        let taken = copies.close(arrivals)
        // Nothing was taken by a program that the lock has ended: it gets the items again.
        if case .locked = result { return result }
        state.withLock { $0.taken.formUnion(taken) }
        return result
    }

    /// Gives clear copies to the program, and ends it if a lock comes that it must not outlive.
    private func give(_ call: DeliveryCall, endingAtLock copies: any ClearCopying) async -> CallResult {
        let isLocked = Mutex(false)
        let (locks, lock) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        copies.whenLocked(call.items.map(\.arrival), of: call.candidate.program.identifier) {
            isLocked.withLock { $0 = true }
            lock.yield()
        }
        guard !isLocked.withLock({ $0 }) else { return .locked }
        let result = await withTaskGroup(of: CallResult?.self) { group -> CallResult in
            group.addTask { await self.give(call) }
            group.addTask {
                for await _ in locks { break }
                return nil
            }
            // The lock ends the call, or the end of the call the wait for the lock.
            let first = (await group.next()) ?? nil
            group.cancelAll()
            if let first { return first }
            return ((await group.next()) ?? nil) ?? .cutShort
        }
        if case .cutShort = result, isLocked.withLock({ $0 }) { return .locked }
        return result
    }

    /// Gives a sealed item that is too large for a clear copy through a pipe.
    ///
    /// - Parameter reason: why there is no clear copy.
    private func stream(
        _ call: DeliveryCall, from copies: any ClearCopying, instead reason: String
    ) async -> CallResult {
        let program = call.candidate.program
        guard program.takesStreams, program.mode != .resident, let item = call.items.first, call.items.count == 1,
            call.candidate.link == nil
        else { return .answered(AttemptOutcome(.later, reason: reason)) }
        guard item.arrival.item.kind != .tree else {
            return .answered(AttemptOutcome(.later, reason: reason + "; a folder cannot be streamed"))
        }
        do throws(ClearCopyError) {
            let stream = try copies.stream(item.arrival, for: program.identifier)
            defer { copies.close(stream, of: program.identifier) }
            var open = call
            open.items[0].arrival = stream.arrival
            return await give(open, stream)
        } catch {
            return Self.result(error)
        }
    }

    private static func result(_ error: ClearCopyError) -> CallResult {
        if error == .locked { return .locked }
        let (answer, reason) = error.answer
        return .answered(AttemptOutcome(answer, reason: reason))
    }

    /// Gives the items to the program as they are.
    ///
    /// - Parameter stream: the contents of the one item, for a program that is started for each call.
    private func give(_ call: DeliveryCall, _ stream: ClearStream? = nil) async -> CallResult {
        let program = state.withLock { $0.current(call.candidate.program) }
        if program.identifier == SystemOpener.identifier { return await open(call) }
        guard let told = told(call)?.annotated(call.annotation) else {
            return .answered(AttemptOutcome(.failed, reason: "there is nothing to open"))
        }
        do throws(CancellationError) {
            if program.mode == .resident {
                guard let resident = await resident(program) else { return .cutShort }
                if let notBefore = await resident.notBefore { return .postponed(notBefore - .now) }
                return .answered(try await resident.ask(told))
            }
            if call.isLaunch, let refusal = try await runner.launch(program, told) { return .answered(refusal) }
            guard let stream else { return .answered(try await runner.run(program, told)) }
            return try await run(program, told, stream)
        } catch {
            return .cutShort
        }
    }

    private func run(
        _ program: HandlerProgram, _ call: HookCall, _ stream: ClearStream
    ) async throws(CancellationError) -> CallResult {
        let pipe: StreamPipe
        do {
            pipe = try StreamPipe(stream)
        } catch {
            return .answered(LaunchError.outcome(of: error, program))
        }
        let outcome = try await runner.run(program, call, stream: pipe)
        return pipe.failure == .locked && outcome.exitCode == nil ? .locked : .answered(outcome)
    }

    private func told(_ call: DeliveryCall) -> HookCall? {
        guard let first = call.items.first else { return nil }
        if let link = call.candidate.link { return .open(link, received: first.arrival, attempt: first.attempt) }
        if call.candidate.program.mode == .perTransfer {
            return .open(call.items.map { (arrival: $0.arrival, attempt: $0.attempt) })
        }
        return .open(first.arrival, attempt: first.attempt)
    }

    private func open(_ call: DeliveryCall) async -> CallResult {
        guard let link = call.candidate.link, let opener = SystemOpener() else {
            return .answered(AttemptOutcome(.failed, reason: "xdg-open is no longer installed"))
        }
        return .answered(await opener.open(link))
    }

    // MARK: Resident handlers

    /// The resident handler of a program, with the program's settings; a new one if its bundle has changed; nil after
    /// `stop`.
    private func resident(_ program: HandlerProgram) async -> ResidentHandler? {
        let (resident, outdated): (ResidentHandler?, ResidentHandler?) = state.withLock { state in
            if state.isStopped { return (nil, nil) }
            let program = state.current(program)
            let known = state.residents[program.identifier]
            if let known, known.program.isSame(as: program) {
                state.residents[program.identifier]?.program = program
                return (known.resident, nil)
            }
            let resident = ResidentHandler(program: program, runner: runner)
            state.residents[program.identifier] = (program, resident)
            return (resident, known?.resident)
        }
        await outdated?.stop()
        await resident?.use(state.withLock { $0.current(program) }.settings)
        return resident
    }

    /// Lets the resident handlers that run use the settings of their programs. Those whose bundle has changed in
    /// another way are passed over: they end at their next call.
    package func useSettings(of programs: [HandlerProgram]) async {
        let changed = state.withLock { state in
            state.settings = Dictionary(programs.map { ($0.identifier, $0.settings) }) { _, last in last }
            return programs.compactMap { program -> (ResidentHandler, HandlerProgram)? in
                guard let known = state.residents[program.identifier], known.program != program,
                    known.program.isSame(as: program)
                else { return nil }
                state.residents[program.identifier]?.program = program
                return (known.resident, program)
            }
        }
        for (resident, program) in changed { await resident.use(program.settings) }
    }

    /// Gives a notice about the lock to the programs that want it: resident ones get a line if they run, the others are
    /// called. Returns when the calls have ended; if the task is cancelled, they are ended.
    package func tell(_ notice: LaunchRules.Notice, to programs: [HandlerProgram]) async {
        await withDiscardingTaskGroup { group in
            for program in programs where program.notices.contains(notice) {
                if program.mode == .resident {
                    let resident = state.withLock { $0.residents[program.identifier]?.resident }
                    group.addTask { await resident?.tell(notice) }
                } else {
                    group.addTask { [runner] in _ = try? await runner.run(program, .notice(notice)) }
                }
            }
        }
    }

    /// Starts the programs that stay, and ends those that are no longer among them.
    ///
    /// - Parameter programs: the resident ones of all usable handlers with `keepsRunning`.
    package func keep(_ programs: [HandlerProgram]) async {
        let names = Set(programs.map(\.identifier))
        let dropped = state.withLock { state in
            let dropped = state.residents.filter { $0.value.program.keepsRunning && !names.contains($0.key) }
            for name in dropped.keys { state.residents[name] = nil }
            return dropped.values.map(\.resident)
        }
        await withDiscardingTaskGroup { group in
            for resident in dropped { group.addTask { await resident.stop() } }
            for program in programs {
                group.addTask { await self.resident(program)?.keep() }
            }
        }
    }

    package func itemWillMove(_ number: ArrivalNumber) async {
        let residents = state.withLock { $0.residents.values.map(\.resident) }
        for resident in residents { await resident.itemWillMove(number) }
    }

    /// Resident handlers end by themselves when they have been idle for a while.
    package func rests(_ handler: String) async {}

    package func stop() async {
        let residents = state.withLock { state in
            state.isStopped = true
            defer { state.residents = [:] }
            return state.residents.values.map(\.resident)
        }
        await withDiscardingTaskGroup { group in
            for resident in residents { group.addTask { await resident.stop() } }
        }
    }
}
