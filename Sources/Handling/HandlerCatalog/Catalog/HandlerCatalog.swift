import Foundation
import UniformTypes

/// The handlers of one user: their folders, and the operations on them.
///
/// Everything here reads the disk, and may wait for it. A caller that asks often keeps a `CatalogSnapshot`, or has a
/// `CatalogWatch` keep one.
package struct HandlerCatalog: Sendable {
    package let folders: HandlerFolders
    /// Absolute path of the JSON file with the user's choices.
    package let choicesPath: String
    /// Absolute path of the folder with a file of settings for each handler: `IDENTIFIER.json`.
    package let settingsFolder: String
    /// The meaning of `~/` in bundles' paths; nil if unknown.
    package let home: String?
    /// The kind of this machine, such as `laptop`, for variants of keys (`KEY~laptop`); nil if unknown.
    package let device: String?
    private let ruling: @Sendable () -> EligibilityRule
    /// The program that the configuration names; nil for none.
    package let hook: ConfiguredHook?
    /// Places that no handler may access, including the folders of the handlers.
    package let closed: ClosedPaths
    /// Records first launches; nil for no record.
    package let firstLaunches: FirstLaunches?
    /// The languages in which names of bundles are shown: `UserLanguages`. Empty for untranslated names.
    package var languages: [String] = []

    /// - Parameters: see the properties; the folders of the handlers and of their settings are added to `closed`.
    ///   `settingsFolder` is nil for `handlers` beside the file of the choices.
    package init(
        folders: HandlerFolders,
        choicesPath: String,
        settingsFolder: String? = nil,
        home: String?,
        device: String? = nil,
        rule: @escaping @autoclosure @Sendable () -> EligibilityRule = .everything,
        hook: ConfiguredHook? = nil,
        closed: ClosedPaths = ClosedPaths(),
        firstLaunches: FirstLaunches? = nil
    ) {
        self.folders = folders
        self.choicesPath = choicesPath
        self.settingsFolder = settingsFolder ?? Paths.folder(of: choicesPath) + "/handlers"
        self.home = home
        self.device = device
        ruling = rule
        self.hook = hook
        self.firstLaunches = firstLaunches
        var closed = closed
        closed.add(folders.all.map { ClosedPaths.ClosedPath($0.path, "a folder of handlers") })
        closed.add([ClosedPaths.ClosedPath(folders.data, "the folder of the data of handlers")])
        closed.add([ClosedPaths.ClosedPath(self.settingsFolder, "the folder of the settings of handlers")])
        self.closed = closed
    }

    /// The rule that counts now.
    package var rule: EligibilityRule { ruling() }

    /// Reads all bundles and the user's choices. Never fails: the snapshot's problems include all failures to read.
    package func load() -> CatalogSnapshot { read(list()).snapshot }

    var choicesFile: ChoicesFile { ChoicesFile(path: choicesPath) }

    /// The folders with names of bundles, and the problems of the folders that contain them.
    func list() -> (bundles: [BundleFolder], problems: [HandlerProblem]) {
        var result: (bundles: [BundleFolder], problems: [HandlerProblem]) = ([], [])
        for (path, origin) in folders.all {
            let (bundles, complaints) = HandlerFolders.bundles(in: path, origin)
            result.bundles += bundles
            result.problems += complaints.map { Self.problem(path, .warning, $0) }
        }
        return result
    }

    /// The result of reading the listed folders.
    func read(
        _ list: (bundles: [BundleFolder], problems: [HandlerProblem])
    ) -> (snapshot: CatalogSnapshot, readings: [BundleFolder.Reading]) {
        var problems = list.problems
        let context = context(of: list.bundles)
        let readings = list.bundles.map { $0.read(context) }
        let (choices, complaints) = choicesFile.read()
        problems += complaints.map { Self.problem(choicesPath, .warning, $0) }
        var bundles: [HandlerBundle] = []
        for reading in readings {
            problems += reading.warnings.map { reading.problem(.warning, $0) }
            switch reading.result {
            case .success(let bundle): bundles.append(bundle)
            case .failure(let fault): problems.append(reading.problem(.unusable, fault.description))
            }
        }
        let hook = hook?.read(dataFolder: folders.data(of: .hook), closed: context.closed)
        if let problem = hook?.problem { problems.append(problem) }
        problems += idleDefaults(choices, Set(bundles.map(\.identifier)))
        let snapshot = CatalogSnapshot(
            bundles: bundles, problems: problems, choices: choices, rule: rule, hook: hook?.bundle)
        return (snapshot, readings)
    }

    /// The inputs of reading bundles. If a bundle is a link, its target is closed to handlers as well.
    func context(of bundles: [BundleFolder]) -> BundleFolder.Context {
        var closed = closed
        closed.add(
            bundles.filter(\.isLink).compactMap { bundle in
                Paths.real(bundle.path).map { ClosedPaths.ClosedPath($0, "the bundle of a handler") }
            })
        return BundleFolder.Context(
            device: device, home: home, folders: folders, languages: languages, closed: closed,
            settingsFile: settingsFile)
    }

    private func idleDefaults(_ choices: UserChoices, _ installed: Set<BundleIdentifier>) -> [HandlerProblem] {
        let defaults =
            choices.typeDefaults.map { ($0.key.identifier, $0.value) }
            + choices.schemeDefaults.map { ($0.key.text, $0.value) }
        return defaults.compactMap { what, identifier in
            guard identifier != .inbox, !installed.contains(identifier) || choices.disabled.contains(identifier) else {
                return nil
            }
            let state = installed.contains(identifier) ? "disabled" : "not installed"
            return Self.problem(choicesPath, .warning, "your default for \(what), \(identifier), is \(state)")
        }
    }

    private static func problem(
        _ path: String,
        _ severity: HandlerProblem.Severity,
        _ reason: String
    ) -> HandlerProblem {
        HandlerProblem(path: path, name: Paths.name(of: path), identifier: nil, severity: severity, reason: reason)
    }
}

extension BundleFolder.Reading {
    fileprivate func problem(_ severity: HandlerProblem.Severity, _ reason: String) -> HandlerProblem {
        HandlerProblem(
            path: folder.path,
            name: folder.name,
            identifier: identifier,
            severity: severity,
            reason: reason
        )
    }
}
