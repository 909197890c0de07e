package import Contacts
import Lines
package import Logging
package import Receiving
package import ServiceManager

extension Waft {
    /// A receiver of this home, in this process. It is not the one that `receiver` talks to, until it runs.
    /// - Parameters:
    ///   - visibility: nil for that of the settings.
    ///   - sockets: that the service manager has passed.
    ///   - logger: nil for that of this Waft.
    ///   - observe: called for each event.
    package func makeReceiver(
        visibility: Visibility? = nil, sockets: PassedSockets = PassedSockets(), manager: ServiceManager? = nil,
        logger: Logger? = nil, observe: @escaping @Sendable (ReceiverEvent) -> Void
    ) -> Receiver {
        Receiver(
            home: home, settings: live, visibility: visibility, sockets: sockets, manager: manager,
            logger: logger ?? self.logger, observe: observe)
    }
}

extension WaftError {
    package init(_ failure: ReceiverError) {
        switch failure.code {
        case .setting: self.init(.usage, failure.description)
        case .alreadyRunning:
            self.init(
                .usage, failure.description,
                hint: "to answer its offers here: waft offers --watch, then waft accept N; to start another one: "
                    + "stop it first, or set another WAFT_HOME")
        case .unexpected: self.init(.unexpected, failure.description)
        }
    }
}
