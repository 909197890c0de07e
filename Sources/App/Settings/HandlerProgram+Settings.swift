import HandlerCatalog
package import Handlers
import HookSandbox

extension HandlerProgram {
    /// The hook that is set, also while its file is missing; nil where none is set.
    package static func hook(_ settings: Settings, _ home: Home) -> HandlerProgram? {
        settings.hook.map { path in
            hook(
                path: path,
                dataFolder: home.handlerFolders.data(of: .hook),
                timeLimit: settings.hookTimeout,
                sandbox: !settings.hookIsSandboxed ? .none : settings.requiresSandbox ? .require : .strict,
                rules: settings.hookRules
            )
        }
    }
}
