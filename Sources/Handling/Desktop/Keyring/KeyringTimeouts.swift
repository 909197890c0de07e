/// How long the keyring may take to answer.
package struct KeyringTimeouts: Hashable, Sendable {
    /// The service, each call.
    package var call: Duration
    /// A person, a question of the keyring.
    package var question: Duration

    package init(call: Duration = .seconds(10), question: Duration = .seconds(180)) {
        self.call = call
        self.question = question
    }
}
