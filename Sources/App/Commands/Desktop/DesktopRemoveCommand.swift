import ArgumentParser
import Desktop
import SystemCalls

/// `waft desktop remove`.
struct DesktopRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove the desktop entries and the menus of file managers.",
        discussion: "Example: waft desktop remove"
    )

    @Flag(name: .long, help: "Remove even a file that Waft has not written.")
    var force = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let place = try DesktopPlace()
        let state = try place.state
        if state == .foreign, !force { throw place.isForeign("remove") }
        try place.changing { () throws(SystemError) in try place.menus.removeAll() }
        if state != .missing {
            try place.changing { () throws(SystemError) in try place.file.remove() }
            await place.file.updateDatabase()
        }
        if output.json { return EventLine.desktop(place.fields(.missing)).print() }
        let path = TerminalText.escaped(place.file.path, limit: 4_096)
        Console.shared.result(state == .missing ? "there is no \(path)" : "removed \(path)")
    }
}
