// The part of Foundation that starts without locales and time zones: the launcher runs once for every hook.
import FoundationEssentials
import Glibc

/// The program, arguments and environment that start a hook under its plan.
package struct SandboxedStart: Hashable, Sendable {
    /// The program, an absolute path.
    package var program: String
    /// The arguments after the program's name.
    package var arguments: [String]
    /// Variables to add to the hook's environment.
    package var environment: [String: String]
}

extension SandboxPlan {
    /// The variable that contains the plan; the launcher removes it before it executes the hook.
    static let variable = "WAFT_SANDBOX_PLAN"
    /// The first argument of a launcher. ``ProcessDescent`` recognises a launcher by it.
    package static let verb = "__sandboxed"
    /// The launcher `wafthook`, in the same folder as this program's file.
    package static let launcher: String = {
        var bytes = [CChar](repeating: 0, count: longestPath + 1)
        let count = max(0, readlink("/proc/self/exe", &bytes, longestPath))
        let path = bytes[..<count].map(UInt8.init(bitPattern:))
        let folder = path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
        return String(decoding: folder, as: UTF8.self) + "/wafthook"
    }()

    /// Makes the launcher ask all its processes to leave.
    package static let leaveSignal = SIGTERM
    /// Makes the launcher end all its processes at once.
    package static let endSignal = SIGQUIT

    /// Describes the start of the launcher. The launcher stays as long as the hook, ends as the hook ended, and takes
    /// ``leaveSignal`` and ``endSignal``.
    ///
    /// The caller also sets the working directory (the folder of the bundle) and the standard streams, which the
    /// launcher passes on. The hook leads a process group of its own.
    ///
    /// - Parameter program: the program that calls ``SandboxedLaunch/runIfAsked(arguments:)`` first.
    /// - Throws: `SandboxError` if the plan is invalid.
    package func start(program: String = SandboxPlan.launcher) throws(SandboxError) -> SandboxedStart {
        SandboxedStart(
            program: program,
            arguments: [Self.verb],
            environment: ["TMPDIR": temporaryFolder, Self.variable: try encoded()]
        )
    }

    /// The plan as one line of JSON.
    ///
    /// - Throws: `SandboxError` if the plan is invalid, or its text is longer than ``longestEncoding``.
    func encoded() throws(SandboxError) -> String {
        try validate()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(self), bytes.count <= Self.longestEncoding else {
            throw .invalidPlan("it is too long")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads the result of ``encoded()``.
    ///
    /// - Throws: `SandboxError` for any other text, and for an invalid plan.
    init(encoded text: String) throws(SandboxError) {
        guard text.utf8.count <= Self.longestEncoding else { throw .invalidPlan("it is too long") }
        guard let plan = try? JSONDecoder().decode(SandboxPlan.self, from: Data(text.utf8)) else {
            throw .invalidPlan("it is not the JSON of a plan")
        }
        try plan.validate()
        self = plan
    }
}
