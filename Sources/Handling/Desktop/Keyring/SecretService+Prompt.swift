import DBusClient

extension SecretService {
    /// The path that stands for no object.
    static let noObject = "/"

    /// Lets the keyring ask its question, if it has one.
    ///
    /// - Throws: `.locked` if nobody may be asked; `.dismissed` and `.unanswered`.
    func ask(_ prompt: String) async throws(KeyringError) {
        guard prompt != Self.noObject else { return }
        guard manner == .asking else {
            // The service may keep a question until it is dismissed.
            await dismiss(prompt)
            throw .locked
        }
        let match = BusMatch(from: Name.service, path: prompt, interface: Name.prompt, member: "Completed")
        let answers: AsyncStream<Bool>
        do throws(BusError) {
            answers = try await client.signals(match, timeout: timeouts.call, buffer: 1) { $0.boolean() }
        } catch {
            throw KeyringError(error)
        }
        // The argument is the window of the question; there is none.
        let arguments: @Sendable (inout BusWriter) -> Void = { $0.string("") }
        try await call(prompt, Name.prompt, "Prompt", arguments) { _ in () }
        guard let failure = await answer(answers) else { return }
        if failure == .unanswered { await dismiss(prompt) }
        throw failure
    }

    /// Waits for the answer.
    ///
    /// - Returns: nil if the person has agreed.
    private func answer(_ answers: AsyncStream<Bool>) async -> KeyringError? {
        await withTaskGroup(of: KeyringError?.self) { group in
            group.addTask {
                for await isDismissed in answers { return isDismissed ? .dismissed : nil }
                return .failed(.disconnected)
            }
            group.addTask { [timeouts] in
                try? await Task.sleep(for: timeouts.question)
                return Task.isCancelled ? .failed(.disconnected) : .unanswered
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func dismiss(_ prompt: String) async {
        try? await call(prompt, Name.prompt, "Dismiss", { _ in }, reading: { _ in () })
    }
}
