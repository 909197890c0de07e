/// The signals that a client wants to get.
package struct BusMatch: Hashable, Sendable {
    /// The service, by a name that it owns. Signals of other programs are left out: each may send any signal.
    package var sender: String
    /// Nil for all objects of the sender.
    package var path: String?
    package var interface: String
    package var member: String
    /// The text that is the first argument; nil for all. The bus compares it, this client does not.
    package var firstArgument: String?

    package init(
        from sender: String, path: String?, interface: String, member: String, firstArgument: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.firstArgument = firstArgument
    }

    /// For `AddMatch` and `RemoveMatch`.
    var rule: String {
        let object = path.map { "path='\($0)'," } ?? ""
        let argument = firstArgument.map { ",arg0='\($0)'" } ?? ""
        return "type='signal',sender='\(sender)',\(object)interface='\(interface)',member='\(member)'" + argument
    }

    /// The changes of a name's owner. Arguments: the name, the old owner, the new owner; no owner is an empty text.
    package static func owner(of name: String) -> BusMatch {
        BusMatch(
            from: BusName.bus, path: BusName.busPath, interface: BusName.bus, member: "NameOwnerChanged",
            firstArgument: name)
    }

    /// The rule for changes of the sender's owner.
    var ownerRule: String { BusMatch.owner(of: sender).rule }

    /// - Parameter owner: the connection that owns the sender's name.
    func matches(_ message: BusMessage, owner: String?) -> Bool {
        message.sender == owner && (path == nil || message.path == path) && message.interface == interface
            && message.member == member
    }
}
