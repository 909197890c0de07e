import ArgumentParser

/// `waft config`: the settings.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show, check and change settings.",
        discussion: """
            Example: waft config set accept contacts

            Settings are in config.yaml; each line of it that is not changed stays as it is, comments too. WAFT_... \
            variables override the file, and command line options override these. A running receiver uses a change at \
            once, or none of it if the file has a fault.
            """,
        subcommands: [
            ConfigListCommand.self, ConfigGetCommand.self, ConfigSetCommand.self, ConfigUnsetCommand.self,
            ConfigEditCommand.self, ConfigCheckCommand.self, ConfigReloadCommand.self, ConfigSchemaCommand.self,
            ConfigPathCommand.self,
        ],
        defaultSubcommand: ConfigListCommand.self
    )
}
