package import Handlers
import HookSandbox

extension HandlerProgram {
    /// The hook that is set; nil where none is.
    /// - Throws: `Unfit` where it cannot be run.
    package static func hook(_ settings: Settings, _ home: Home) throws(Unfit) -> HandlerProgram? {
        guard let path = settings.hook else { return nil }
        return try hook(
            path: path,
            dataFolder: home.state + "/hook",
            timeLimit: settings.hookTimeout,
            sandbox: !settings.hookIsSandboxed ? .none : settings.requiresSandbox ? .require : .strict,
            writablePaths: settings.hookWritable
        )
    }
}
