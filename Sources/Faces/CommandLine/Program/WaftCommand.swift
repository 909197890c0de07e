package import ArgumentParser

/// `waft`: the verbs.
package struct WaftCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "waft",
        abstract: "Share files with nearby machines.",
        discussion: """
            Example: waft receive, on one machine; waft send photo.jpg --to kitchen, on another.
            """,
        version: Version.text,
        subcommands: [
            SendCommand.self, ShareCommand.self, ReceiveCommand.self, WebCommand.self, DeskCommand.self,
            PeersCommand.self,
            InboxCommand.self, OffersCommand.self,
            AcceptCommand.self, DeclineCommand.self, TransfersCommand.self, StatusCommand.self, HistoryCommand.self,
            HandlersCommand.self,
            OpenCommand.self, PairCommand.self, ContactsCommand.self, VisibleCommand.self, PolicyCommand.self,
            TypeCommand.self, PreviewCommand.self, OptionsCommand.self, OpenInCommand.self, OutboxCommand.self,
            DoctorCommand.self,
            DesktopCommand.self,
            ServiceCommand.self, ConfigCommand.self, ProtectionCommand.self, UnlockCommand.self, LockCommand.self,
        ]
    )

    package init() {}
}

package enum Version {
    package static let text = "0.1.0"
}
