/// A call of a method. The names must be valid by the D-Bus Specification: libdbus ends the process otherwise.
package struct BusCall: Sendable {
    package var destination: String
    package var path: String
    package var interface: String
    package var member: String
    /// Whether the bus may start the service.
    package var startsService: Bool
    /// Writes the arguments.
    package var arguments: @Sendable (inout BusWriter) -> Void

    package init(
        to destination: String, path: String, interface: String, member: String, startsService: Bool = false,
        arguments: @escaping @Sendable (inout BusWriter) -> Void = { _ in }
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.startsService = startsService
        self.arguments = arguments
    }

    /// A call of the bus itself.
    static func bus(_ member: String, _ arguments: @escaping @Sendable (inout BusWriter) -> Void = { _ in }) -> BusCall
    {
        BusCall(
            to: BusName.bus, path: BusName.busPath, interface: BusName.bus, member: member, arguments: arguments)
    }

    /// - Returns: nil if memory is exhausted.
    func message() -> BusMessage? {
        let message = BusMessage.call(
            to: destination, path: path, interface: interface, member: member, startsService: startsService)
        return message?.write(arguments) == true ? message : nil
    }
}
