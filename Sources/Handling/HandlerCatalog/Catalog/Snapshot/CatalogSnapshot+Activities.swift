extension CatalogSnapshot {
    /// The activities of the handlers in use, in the order of their installation. Of two with one type the first counts.
    package var activities: [(bundle: HandlerBundle, activity: HandlerActivity)] {
        var seen: Set<String> = []
        return bundles.filter { isEnabled($0) && $0.executable != nil && $0.programFault == nil }
            .sorted(by: HandlerBundle.isInstalledBefore)
            .flatMap { bundle in bundle.activities.map { (bundle, $0) } }
            .filter { seen.insert($0.1.type).inserted }
    }
}
