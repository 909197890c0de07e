import ArgumentParser

/// `waft desktop`: the desktop's way to the handlers.
struct DesktopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "desktop",
        abstract: "Let the desktop open URLs with your handlers.",
        discussion: """
            Example: waft desktop install, then click a link such as todolist:x in a browser

            A desktop entry tells the desktop which URL schemes your handlers open. Such URLs then go to waft open. Waft \
            rewrites the entry when the handlers change. http, https, mailto, tel, sms, file and other schemes that mean \
            the same everywhere stay with the desktop.
            """,
        subcommands: [DesktopInstallCommand.self, DesktopRemoveCommand.self, DesktopStatusCommand.self],
        defaultSubcommand: DesktopStatusCommand.self
    )
}
