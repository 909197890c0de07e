import SystemCalls

/// Why a radio backend did not do as it was asked.
package indirect enum RadioFault: Error, Hashable, Sendable {
    /// Another user than root could change the helper: one line.
    case untrusted(String)
    /// No program is at the path of the setting.
    case missing(String)
    /// The file at this path may not be executed.
    case notExecutable(String)
    case noPkexec
    /// polkit did not let this user start it.
    case refused
    /// Not now, in the backend's words; empty if it has none. It may be otherwise a moment later.
    case notNow(String)
    /// There is no radio, in the backend's words; empty if it has none.
    case noRadio(String)
    case otherContract(String)
    /// The helper did not answer a command in time.
    case outOfTime(String)
    /// The answer to a command is none.
    case malformed(String)
    /// A command failed, with its exit and the backend's words.
    case failed(String, String)
    /// The window ended before its time, in the backend's words; empty if it has none.
    case endedEarly(String)
    /// The interface of the radio link is not up, though the backend says that the window is open.
    case noLink
    /// The window could not be closed.
    case staysOpen(RadioFault)
    /// The port of the radio link cannot be listened on: one line.
    case portTaken(String)

    /// Whether the same may succeed a moment later, without a change by the user.
    package var isPassing: Bool {
        switch self {
        case .notNow, .outOfTime, .endedEarly, .malformed, .portTaken, .noLink: true
        case .staysOpen(let fault): fault.isPassing
        case .untrusted, .missing, .notExecutable, .noPkexec, .refused, .noRadio, .otherContract, .failed: false
        }
    }

    /// Whether a command to open the window that failed so has surely opened none.
    package var hasOpenedNothing: Bool {
        switch self {
        case .untrusted, .missing, .notExecutable, .noPkexec, .refused, .notNow, .noRadio, .otherContract: true
        case .outOfTime, .malformed, .failed, .endedEarly, .portTaken, .noLink, .staysOpen: false
        }
    }
}

extension RadioFault: CustomStringConvertible {
    /// One line; the backend's words in it are escaped.
    package var description: String {
        func with(_ words: String, _ otherwise: String) -> String { words.isEmpty ? otherwise : words }
        return switch self {
        case .untrusted(let reason): "the radio backend is not used: \(reason)"
        case .missing(let path): "no radio backend is at \(path)"
        case .notExecutable(let path): "the radio backend at \(path) cannot be executed"
        case .noPkexec: "the radio backend needs pkexec, which is not installed"
        case .refused: "polkit does not let this user switch the radio"
        case .notNow(let words): "the radio is not available now: \(with(words, "is Wi-Fi connected?"))"
        case .noRadio(let words): "no radio: \(with(words, "the backend found no Wi-Fi card that it can use"))"
        case .otherContract(let contract):
            "the radio backend speaks contract \(contract), and Waft \(RadioProbe.contract)"
        case .outOfTime(let command): "the radio backend did not answer \"\(command)\" in time"
        case .malformed(let command): "the radio backend's answer to \"\(command)\" is not understood"
        case .failed(let command, let words):
            "the radio backend failed at \"\(command)\"\(words.isEmpty ? "" : ": \(words)")"
        case .noLink: "its interface \(RadioBackend.interface) is not up"
        case .staysOpen(let fault): "the radio could not be switched off: \(fault)"
        case .portTaken(let reason): "their port is not open here: \(reason)"
        case .endedEarly(let words): "the radio's window ended by itself\(words.isEmpty ? "" : ": \(words)")"
        }
    }

    /// The kind of fault, for programs.
    package var code: String {
        switch self {
        case .refused: "refused"
        case .notNow, .endedEarly, .noLink: "notNow"
        case .staysOpen: "staysOpen"
        case .noRadio: "noRadio"
        case .portTaken: "portTaken"
        case .untrusted, .missing, .notExecutable, .noPkexec, .otherContract, .outOfTime, .malformed, .failed:
            "backend"
        }
    }

    /// The next step, one line.
    package var hint: String {
        switch self {
        // A `chown` would give root's rights to a program that a stranger has written.
        case .untrusted:
            "root must own it and all folders above it, and nobody else may write to them: install the backend as root, or "
                + "set another path: waft config set dialects.airdrop.radio PATH"
        case .missing: "correct dialects.airdrop.radio, or: waft config set dialects.airdrop.radio off"
        case .notExecutable(let path): "as root: chmod +x \(ShellWord.quoted(path))"
        case .noPkexec: "install polkit's pkexec: apt install pkexec"
        case .refused: "start Waft in a session at the machine itself, or allow the backend's action in polkit"
        case .notNow: "connect Wi-Fi; Waft tries again by itself"
        case .noRadio: "see which cards work: UsingIPhones.md in share/doc/waft"
        case .otherContract: "update Waft or the backend"
        case .outOfTime, .malformed, .failed:
            "update the backend, or do without: waft config set dialects.airdrop.radio off"
        case .portTaken: "waft doctor names the program that has it"
        case .endedEarly, .noLink: "Waft opens it again by itself"
        case .staysOpen(let fault): fault.hint
        }
    }
}
