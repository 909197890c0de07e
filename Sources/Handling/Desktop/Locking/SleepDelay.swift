import DBusClient

/// Delays the machine's sleep until protected data is locked: an inhibitor lock of logind, mode `delay`.
actor SleepDelay {
    private let bus: BusAddress
    private var isWanted = false
    private var asking: Task<SleepLock?, Never>?
    /// From the announcement of a sleep until its end.
    private var isSleeping = false
    private var lock: SleepLock?

    init(bus: BusAddress) {
        self.bus = bus
    }

    var isHeld: Bool { lock != nil }

    /// Returns when the lock is held or given back, or when logind grants none.
    func want(_ isWanted: Bool) async {
        self.isWanted = isWanted
        // A sleep that begins waits for its own release.
        if !isWanted, !isSleeping { lock = nil }
        await ask()
    }

    /// The sleep is announced: the lock stays until `release`, and no new one is requested.
    func sleepBegins() {
        isSleeping = true
    }

    /// Lets the announced sleep begin. Without one it does nothing.
    func release() {
        if isSleeping { lock = nil }
    }

    /// The machine is awake, or logind is there.
    ///
    /// - Parameter keeping: whether a lock that is held is still of use: it is not after a sleep, or for another logind.
    func renew(keeping: Bool) {
        isSleeping = false
        if !keeping { (lock, asking) = (nil, nil) }
        if isWanted { Task { await ask() } }
    }

    /// Gives the lock back for good.
    func end() {
        isWanted = false
        lock = nil
    }

    private func ask() async {
        guard isWanted, !isSleeping, lock == nil else { return }
        let task = asking ?? Task { [bus] in try? await SleepLock.request(.protection, from: bus) }
        asking = task
        let answer = await task.value
        guard asking == task else { return }
        asking = nil
        // If it is no longer wanted, the last reference closes it.
        if isWanted, !isSleeping { lock = answer }
    }
}
