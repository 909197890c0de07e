import Foundation
package import HandlerCatalog

extension Home {
    /// The handlers of this user, as the settings have it. Reads nothing yet.
    ///
    /// - Parameter includingHook: whether the hook is one of them, for those who tell the user what would happen. The
    ///   receiver asks it by itself, after all of them.
    package func handlerCatalog(_ settings: Settings, includingHook: Bool = false) -> HandlerCatalog {
        let home = ProcessInfo.processInfo.environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return HandlerCatalog(
            folders: HandlerFolders(user: handlers),
            choicesPath: configuration + "/handlers.json",
            home: home,
            // What it is not known to be matches no variant of a key.
            device: DeviceKind.own == "computer" ? nil : DeviceKind.own,
            rule: settings.eligibility,
            hook: includingHook ? settings.hook.map { configuredHook($0, settings) } : nil
        )
    }

    private func configuredHook(_ path: String, _ settings: Settings) -> ConfiguredHook {
        ConfiguredHook(
            // A relative one is taken from the working directory, as the receiver does.
            path: URL(fileURLWithPath: path).standardizedFileURL.path,
            launch: LaunchRules(
                sandbox: settings.hookIsSandboxed ? .strict : .none,
                writablePaths: settings.hookWritable,
                timeout: settings.hookTimeout
            )
        )
    }
}
