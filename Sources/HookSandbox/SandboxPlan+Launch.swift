// The part of Foundation that starts without locales and time zones: the launcher runs once for every hook.
import FoundationEssentials

/// What to start so that a hook runs under its plan.
package struct SandboxedStart: Hashable, Sendable {
    /// The program, an absolute path.
    package var program: String
    /// What follows the program's name in its arguments.
    package var arguments: [String]
    /// Variables to add to the hook's environment.
    package var environment: [String: String]
}

extension SandboxPlan {
    /// The variable in which the plan travels; the launcher removes it before it executes the hook.
    static let variable = "WAFT_SANDBOX_PLAN"
    /// The first argument that makes a program of Waft a launcher.
    static let verb = "__sandboxed"
    /// This program, even if its file has been replaced or removed since it started.
    package static let thisProgram = "/proc/self/exe"

    /// What to start: this program again, as the launcher, or the hook itself for the level `none`.
    ///
    /// The caller also sets the working directory (the handler's folder), the standard streams and the process group;
    /// the launcher passes all of them on.
    ///
    /// - Parameter program: the program that calls ``SandboxedLaunch/runIfAsked(arguments:)`` first.
    /// - Throws: `SandboxError` where the plan cannot be used.
    package func start(program: String = SandboxPlan.thisProgram) throws(SandboxError) -> SandboxedStart {
        let text = try encoded()
        if level == .none {
            return SandboxedStart(
                program: executable, arguments: arguments, environment: ["TMPDIR": temporaryFolder])
        }
        return SandboxedStart(
            program: program,
            arguments: [Self.verb],
            environment: ["TMPDIR": temporaryFolder, Self.variable: text]
        )
    }

    /// The plan as one line of JSON.
    ///
    /// - Throws: `SandboxError` where the plan cannot be used, or is longer than ``longestEncoding``.
    func encoded() throws(SandboxError) -> String {
        try validate()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(self), bytes.count <= Self.longestEncoding else {
            throw .invalidPlan("it is too long")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads what ``encoded()`` wrote.
    ///
    /// - Throws: `SandboxError` for anything else, and for what cannot be used.
    init(encoded text: String) throws(SandboxError) {
        guard text.utf8.count <= Self.longestEncoding else { throw .invalidPlan("it is too long") }
        guard let plan = try? JSONDecoder().decode(SandboxPlan.self, from: Data(text.utf8)) else {
            throw .invalidPlan("it is not the JSON of a plan")
        }
        try plan.validate()
        self = plan
    }
}
