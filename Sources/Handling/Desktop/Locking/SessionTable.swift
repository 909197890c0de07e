/// The user's sessions, and the events that their changes mean.
struct SessionTable {
    /// By the paths of their objects.
    private var sessions: [String: LogindSession] = [:]

    subscript(path: String) -> LogindSession? { sessions[path] }

    /// Begins with the sessions that are there.
    ///
    /// - Returns: nil without a graphical session: on a server nothing is locked for that.
    mutating func begin(with sessions: [String: LogindSession]) -> LockEvent? {
        self.sessions = sessions
        if isAnyLocked { return .locked(.screen) }
        return isAnyPresent ? .unlockedHint : nil
    }

    /// A session begins, or its properties have changed.
    mutating func set(_ path: String, _ session: LogindSession) -> LockEvent? {
        let old = sessions[path]
        let wasAnyPresent = isAnyPresent
        sessions[path] = session
        if session.isLockedScreen, old?.isLockedScreen != true { return .locked(.screen) }
        if wasAnyPresent, !isAnyPresent { return .locked(.nobody) }
        let isUnlocked = old?.isLockedScreen == true && session.isPresent
        let isFirst = !wasAnyPresent && isAnyPresent
        return (isUnlocked || isFirst) && !isAnyLocked ? .unlockedHint : nil
    }

    /// A session has ended. The end of a locked one unlocks nothing.
    mutating func remove(_ path: String) -> LockEvent? {
        let wasAnyPresent = isAnyPresent
        sessions[path] = nil
        return wasAnyPresent && !isAnyPresent ? .locked(.nobody) : nil
    }

    private var isAnyPresent: Bool { sessions.values.contains(where: \.isPresent) }
    private var isAnyLocked: Bool { sessions.values.contains(where: \.isLockedScreen) }
}
