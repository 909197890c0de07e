/// How far the keyring may be troubled.
package enum KeyringManner: Hashable, Sendable {
    /// No program is started, and nobody is asked: for a service.
    case silent
    /// The keyring may be started, and may ask the person to open it: for a command that a person runs.
    case asking
}
