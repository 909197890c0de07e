/// One connection of a `BusClient`: its calls that wait for replies, and its streams of signals. Used by one thread.
final class BusSession: BusPart {
    /// A call that waits for its reply.
    private struct Pending {
        var deadline: ContinuousClock.Instant
        var answer: (Result<BusMessage, BusError>) -> Void
    }

    private struct Subscription {
        var matches: [BusMatch]
        /// Nil ends the stream.
        var tell: (BusMessage?) -> Void
    }

    private(set) var connection: BusConnection?
    private var pending: [UInt32: Pending] = [:]
    private var subscriptions: [Int: Subscription] = [:]
    /// The connections that own the names of subscribed services.
    private var owners: [String: String] = [:]

    // MARK: Requests

    func connect(to address: BusAddress, _ limits: BusLimits) -> BusError? {
        do {
            connection = try BusConnection.open(address, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    func call(_ call: BusCall, timeout: Duration, _ answer: @escaping (Result<BusMessage, BusError>) -> Void) {
        guard let connection, let message = call.message(), let serial = connection.send(message) else {
            return answer(.failure(.disconnected))
        }
        pending[serial] = Pending(deadline: .now + timeout, answer: answer)
    }

    /// - Parameter told: called with the first error, or when the bus sends the signals from now on.
    func subscribe(
        _ number: Int, _ matches: [BusMatch], timeout: Duration, _ tell: @escaping (BusMessage?) -> Void,
        then told: @escaping (BusError?) -> Void
    ) {
        subscriptions[number] = Subscription(matches: matches, tell: tell)
        let (rules, senders) = (Self.rules(matches), Set(matches.map(\.sender)))
        var failure: BusError?
        var missing = rules.count + senders.count
        func answered(_ error: BusError?) {
            failure = failure ?? error
            missing -= 1
            if missing == 0 { told(failure) }
        }
        for rule in rules {
            call(.bus("AddMatch") { $0.string(rule) }, timeout: timeout) { answer in
                if case .failure(let error) = answer { answered(error) } else { answered(nil) }
            }
        }
        // After the matches, so that no change is missed in between.
        for sender in senders {
            call(.bus("GetNameOwner") { $0.string(sender) }, timeout: timeout) { [weak self] answer in
                switch answer {
                case .success(let message):
                    self?.owners[sender] = message.read { $0.string() }
                    answered(nil)
                // The refusal is NameHasNoOwner. Without an answer every signal of the owner would be dropped.
                case .failure(let error): answered(error.isRefusal ? nil : error)
                }
            }
        }
    }

    func unsubscribe(_ number: Int) {
        guard let subscription = subscriptions.removeValue(forKey: number) else { return }
        for rule in Self.rules(subscription.matches) {
            guard let message = BusCall.bus("RemoveMatch", { $0.string(rule) }).message() else { continue }
            message.wantsNoReply()
            _ = connection?.send(message)
        }
    }

    private static func rules(_ matches: [BusMatch]) -> Set<String> {
        Set(matches.flatMap { [$0.ownerRule, $0.rule] })
    }

    // MARK: The thread

    var watchDescriptor: Int32 { -1 }
    var deadline: ContinuousClock.Instant? { pending.values.map(\.deadline).min() }
    var hasLeft: Bool { connection?.isSending != true }

    func watchIsReadable() {}
    func leave() {}

    func advance() {
        while let message = connection?.receive() { take(message) }
        if connection?.isConnected == false { end() }
        let now = ContinuousClock.now
        for (serial, waiting) in pending where waiting.deadline <= now {
            pending[serial] = nil
            waiting.answer(.failure(.silent))
        }
    }

    func end() {
        connection = nil
        for waiting in pending.values { waiting.answer(.failure(.disconnected)) }
        for subscription in subscriptions.values { subscription.tell(nil) }
        (pending, subscriptions) = ([:], [:])
    }

    // MARK: Messages

    private func take(_ message: BusMessage) {
        switch message.kind {
        case .reply: pending.removeValue(forKey: message.replySerial)?.answer(.success(message))
        case .error:
            let refusal = BusError.refused(message.errorName ?? "without a name")
            pending.removeValue(forKey: message.replySerial)?.answer(.failure(refusal))
        case .signal: signalled(message)
        case .call: if let refusal = message.refusal() { _ = connection?.send(refusal) }
        case .other: break
        }
    }

    private func signalled(_ message: BusMessage) {
        if message.sender == BusName.bus, message.interface == BusName.bus, message.member == "NameOwnerChanged" {
            let (name, new) = message.read { arguments in
                let name = arguments.string()
                _ = arguments.string()
                return (name, arguments.string())
            }
            if let name, subscriptions.values.contains(where: { $0.matches.contains { $0.sender == name } }) {
                owners[name] = new
            }
        }
        for subscription in subscriptions.values
        where subscription.matches.contains(where: { $0.matches(message, owner: owners[$0.sender]) }) {
            subscription.tell(message)
        }
    }
}
