import ArgumentParser
import Endpoints
import Foundation
import Lines
import Settings

/// `waft service print`.
struct ServicePrintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print",
        abstract: "Print the units, and change nothing.",
        discussion: "Example: waft service print --system waftd.service"
    )

    @OptionGroup var whose: ServiceScopeOption

    @Option(
        name: .long,
        help: ArgumentHelp("The folder of waftd, if it is not the one of this program.", valueName: "folder"))
    var programs: String?

    @Argument(help: ArgumentHelp("Only this one: waftd.service or waftd.socket.", valueName: "unit"))
    var unit: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let unit, ![ServiceUnits.service, ServiceUnits.socket].contains(unit) {
            throw ValidationError("the units are \(ServiceUnits.service) and \(ServiceUnits.socket)")
        }
        if let programs, !programs.hasPrefix("/") || programs.contains(where: \.isNewline) {
            throw ValidationError("--programs is the absolute path of a folder")
        }
    }

    func run() async throws {
        // A package does not depend on the settings of the user who builds it.
        let units =
            if let programs {
                ServiceUnits(scope: whose.scope, daemon: programs + "/waftd")
            } else {
                try ServiceUnits.ofThisUser(whose.scope)
            }
        Self.show(units.all.filter { unit == nil || $0.name == unit }, alone: unit != nil, json: output.json)
    }

    /// - Parameter alone: without a line with the name of each.
    static func show(_ units: [ServiceUnits.Unit], alone: Bool = false, json: Bool) {
        for unit in units {
            if json {
                EventLine.unit(UnitFields(unit: unit.name, unitText: unit.text)).print()
            } else {
                if !alone { Console.shared.result("# \(unit.name)") }
                // The console ends the last line.
                for line in unit.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                    Console.shared.result(String(line))
                }
            }
        }
    }
}

struct UnitFields: Encodable {
    var unit: String
    var unitText: String
}

extension ServiceUnits {
    /// The units for this user's folders, port and programs.
    static func ofThisUser(_ scope: ServiceScope) throws(CommandError) -> ServiceUnits {
        let daemon = try OwnPrograms.daemon()
        guard scope == .user else {
            for place in ["/home/", "/root/", "/run/", "/tmp/", "/var/tmp/"] where daemon.hasPrefix(place) {
                throw CommandError(
                    .usage,
                    "a service of the machine sees nothing in \(place.dropLast()): install Waft elsewhere first",
                    hint: "Scripts/install --prefix /usr/local")
            }
            return ServiceUnits(scope: scope, daemon: daemon)
        }
        let (home, port) = try homeAndPort()
        return ServiceUnits(scope: scope, daemon: daemon, home: home, port: port)
    }

    /// The drop-ins that make installed units fit this user's folders and port.
    static func dropInsOfThisUser() throws(CommandError) -> [Unit] {
        let (home, port) = try homeAndPort()
        return try dropIns(home: home, port: port)
    }

    private static func homeAndPort() throws(CommandError) -> (home: String?, port: UInt16?) {
        let context = try CommandContext()
        let home = ProcessInfo.processInfo.environment["WAFT_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        let port = context.settings.port ?? Endpoints.defaultPort
        return (home.map { URL(fileURLWithPath: $0).standardizedFileURL.path }, port == 0 ? nil : port)
    }
}
