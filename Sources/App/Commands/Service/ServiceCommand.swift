import ArgumentParser

/// `waft service`: the receiver as a service of systemd.
struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Run the receiver in the background, by systemd.",
        discussion: """
            Example: waft service install --now

            The service starts when you log in, starts again after a crash, and ends when you log out, unless you linger. \
            With --system it is a service of the machine, which runs as the user waft.
            """,
        subcommands: [
            ServiceInstallCommand.self, ServiceStatusCommand.self, ServiceRemoveCommand.self, ServicePrintCommand.self,
        ]
    )
}
