import ArgumentParser
import Desktop

/// `waft desktop status`.
struct DesktopStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print whether the desktop entry is installed, and its schemes.",
        discussion: "Example: waft desktop status --json"
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let place = try DesktopPlace()
        let state = try place.state
        if output.json { return EventLine.desktop(place.fields(state)).print() }
        let path = TerminalText.escaped(place.file.path, limit: 4_096)
        switch state {
        case .missing:
            Console.shared.result("not installed")
            Console.shared.note("to install it: waft desktop install")
        case .foreign:
            Console.shared.result("not installed: \(path) is of another hand")
            Console.shared.note("to replace it: waft desktop install --force")
        case .written(let entry):
            Console.shared.result("installed  \(path)")
            for line in place.lines(entry) { Console.shared.result("  \(line)") }
            if !place.isCurrent(entry) {
                Console.shared.note("it is not up to date; to change that: waft desktop install")
            }
        }
    }
}
