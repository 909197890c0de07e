import Foundation
package import Sharing

/// Reads the settings of a running receiver again. Those that the command line set at its start stay.
package struct SettingsSource: Sendable {
    private let home: Home
    private let start: Settings
    private let dialects: DialectTable

    /// - Parameters:
    ///   - start: the settings of the start, with their places.
    ///   - dialects: as in `Settings.read`.
    package init(home: Home, start: Settings, dialects: DialectTable) {
        (self.home, self.start, self.dialects) = (home, start, dialects)
    }

    /// Blocks on the disk.
    ///
    /// - Returns: the settings, and the names of those whose values in the file are overridden.
    /// - Throws: `Settings.InvalidError` with all faults of the file.
    package func read() throws(Settings.InvalidError) -> (settings: Settings, overridden: [String]) {
        var settings = Settings(hostName: start.hostName)
        try settings.read(file: home.configurationFile, dialects: dialects, registry: home.typeRegistry())
        let written = settings.places
        try settings.read(environment: ProcessInfo.processInfo.environment)
        for key in SettingKey.all where key.flag != nil && start.places[key.name] == key.flag {
            key.copy(from: start, to: &settings)
        }
        let overridden = written.keys.filter { settings.places[$0] != written[$0] }
        return (settings, overridden.sorted())
    }
}
