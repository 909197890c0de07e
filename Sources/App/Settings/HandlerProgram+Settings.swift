import HandlerCatalog
package import Handlers
import HookSandbox

extension HandlerProgram {
    /// The hook that is set; nil where none is.
    /// - Throws: `UnfitError` if it cannot be run, or if its rules name a path that is closed to handlers.
    package static func hook(_ settings: Settings, _ home: Home) throws(UnfitError) -> HandlerProgram? {
        guard let path = settings.hook else { return nil }
        if let (key, reason) = settings.hookRules.trouble(home.handlerCatalog(settings).closed) {
            throw UnfitError(description: settings.line(about: key.setting, "\(key.setting): \(reason)"))
        }
        do {
            return try hook(
                path: path,
                dataFolder: home.handlerFolders.data(of: .hook),
                timeLimit: settings.hookTimeout,
                sandbox: !settings.hookIsSandboxed ? .none : settings.requiresSandbox ? .require : .strict,
                rules: settings.hookRules
            )
        } catch {
            throw UnfitError(description: settings.line(about: "hook", error.description))
        }
    }
}
