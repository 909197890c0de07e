/// The service as systemd sees it.
package struct ServiceLine: Line {
    package static let event = "service"

    package let system: Bool
    /// In one word, with the reason of a failure.
    package let state: String
    package let startsByItself: Bool
    /// The unit, or the paths of files that a command has written or removed.
    package var units: [String]?
    /// The line that waftd shows.
    package let statusLine: String?
    package let processID: Int?
    package let restarts: Int?
    /// Whether the user's services go on when the user has logged out; absent if that is not known.
    package let lingers: Bool?
    /// Whether there is a unit.
    @Unsaid package var isKnown: Bool
    @Unsaid package var isActive: Bool
    /// The file of the unit.
    @Unsaid package var path: String?
    /// The path of an installed unit which a copy of an earlier installation hides.
    @Unsaid package var hidden: String?

    package init(
        system: Bool, state: String, startsByItself: Bool, path: String? = nil, statusLine: String? = nil,
        processID: Int? = nil, restarts: Int? = nil, lingers: Bool? = nil, isKnown: Bool, isActive: Bool
    ) {
        (self.system, self.state, self.startsByItself) = (system, state, startsByItself)
        (self.path, units) = (path, path.map { [$0] })
        (self.statusLine, self.processID, self.restarts) = (statusLine, processID, restarts)
        (self.lingers, self.isKnown, self.isActive) = (lingers, isKnown, isActive)
    }
}

/// A unit of the service.
package struct UnitLine: Line {
    package static let event = "unit"

    package let unit: String
    package let unitText: String

    package init(unit: String, unitText: String) { (self.unit, self.unitText) = (unit, unitText) }
}
