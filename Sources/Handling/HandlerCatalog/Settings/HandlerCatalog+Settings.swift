import SystemCalls

extension HandlerCatalog {
    /// Absolute path of the file with the values that the user has set for a handler; it need not exist.
    package func settingsPath(of identifier: BundleIdentifier) -> String { settingsFile(of: identifier).path }

    func settingsFile(of identifier: BundleIdentifier) -> HandlerSettingsFile {
        HandlerSettingsFile(path: settingsFolder + "/" + identifier.text + ".json")
    }

    /// Sets a setting of a handler.
    ///
    /// - Parameter value: one that the setting accepts; nil for the default.
    /// - Throws: `CatalogError` `storage`.
    package func set(
        _ setting: HandlerSetting, of identifier: BundleIdentifier, to value: HandlerSettingValue?
    ) throws(CatalogError) {
        let file = settingsFile(of: identifier)
        do throws(SystemError) {
            try file.change { $0[setting.key] = value }
        } catch {
            throw .storage(file.path, error)
        }
    }

    /// Removes the values that the user has set for a handler.
    ///
    /// - Returns: whether there were any.
    /// - Throws: `CatalogError` `storage`.
    @discardableResult
    package func removeSettings(of identifier: BundleIdentifier) throws(CatalogError) -> Bool {
        let file = settingsFile(of: identifier)
        do throws(SystemError) {
            return try file.remove()
        } catch {
            throw .storage(file.path, error)
        }
    }
}
