import ArgumentParser
import Desktop
import SystemCalls

/// `waft desktop install`.
struct DesktopInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Install the desktop entries and the menus of file managers, or bring them up to date.",
        discussion: """
            Example: waft desktop install

            Waft stands among the applications, URLs of handlers open from other programs, and files are shared from the menus of Thunar, Dolphin, Nautilus, \
            Nemo and Caja, as far as they are installed. All start the waft that you run now. Run this command again after you \
            have moved that program.
            """
    )

    @Flag(name: .long, help: "Replace a file that Waft has not written.")
    var force = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let place = try DesktopPlace()
        if try place.state == .foreign, !force { throw place.isForeign("install") }
        let (entry, shares) = (try place.entry, try place.shares)
        var foreign: [ShareMenus.Entry] = []
        try place.changing { () throws(SystemError) in foreign = try place.menus.foreign(shares) }
        if !force, let one = foreign.first { throw place.isForeign("install", one.path) }
        try place.changing { () throws(SystemError) in
            try place.file.write(entry)
            try place.menus.install(shares)
        }
        let hasDatabase = await place.file.updateDatabase()
        if output.json { return EventLine.desktop(place.fields(.written(entry))).print() }
        Console.shared.result("installed \(TerminalText.escaped(place.file.path, limit: 4_096))")
        for line in place.lines(entry) { Console.shared.result("  \(line)") }
        if !hasDatabase {
            Console.shared.note(
                "waft: update-desktop-database failed or is missing; some desktops find the entry only with it "
                    + "(package desktop-file-utils)")
        }
    }
}
