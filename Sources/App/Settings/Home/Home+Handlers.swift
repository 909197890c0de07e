import Foundation
package import HandlerCatalog
import Sharing

extension Home {
    /// The folders of the handlers' bundles and of their data.
    package var handlerFolders: HandlerFolders { HandlerFolders(user: handlers) }

    /// The handlers of this user, as the settings have it. Reads nothing yet.
    ///
    /// - Parameters:
    ///   - includingHook: whether the hook is one of them, for those who tell the user what would happen.
    ///     The receiver asks it by itself, after all of them.
    ///   - live: settings whose changes count; nil for those that are given.
    package func handlerCatalog(
        _ settings: Settings, includingHook: Bool = false, live: LiveSettings? = nil
    ) -> HandlerCatalog {
        let home = ProcessInfo.processInfo.environment["HOME"].flatMap { PathText.isAbsolute($0) ? $0 : nil }
        return HandlerCatalog(
            folders: handlerFolders,
            choicesPath: configuration + "/handlers.json",
            home: home,
            // An unknown kind of device matches no variant of a key.
            device: DeviceKind.own == "computer" ? nil : DeviceKind.own,
            rule: live?.current.eligibility ?? settings.eligibility,
            hook: includingHook ? settings.hook.map { configuredHook($0, settings) } : nil,
            closed: ClosedPaths(
                [
                    ClosedPaths.ClosedPath(configuration, "the folder of Waft's configuration"),
                    ClosedPaths.ClosedPath(state, "the folder of Waft's state"),
                    ClosedPaths.ClosedPath(run, "the folder of Waft's control socket"),
                ], inbox: inbox),
            firstLaunches: FirstLaunches(path: state + "/first-launches.json")
        )
    }

    private func configuredHook(_ path: String, _ settings: Settings) -> ConfiguredHook {
        // A relative one is taken from the working directory, as the receiver does.
        ConfiguredHook(path: URL(fileURLWithPath: path).standardizedFileURL.path, launch: settings.hookRules)
    }
}
