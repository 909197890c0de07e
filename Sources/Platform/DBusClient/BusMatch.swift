/// The signals that a client wants to get.
package struct BusMatch: Hashable, Sendable {
    /// The service, by a name that it owns. Signals of other programs are left out: each may send any signal.
    package var sender: String
    /// Nil for all objects of the sender.
    package var path: String?
    package var interface: String
    package var member: String

    package init(from sender: String, path: String?, interface: String, member: String) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
    }

    /// For `AddMatch` and `RemoveMatch`.
    var rule: String {
        let object = path.map { "path='\($0)'," } ?? ""
        return "type='signal',sender='\(sender)',\(object)interface='\(interface)',member='\(member)'"
    }

    /// The rule for changes of the sender's owner.
    var ownerRule: String {
        "type='signal',sender='\(BusName.bus)',interface='\(BusName.bus)',member='NameOwnerChanged',arg0='\(sender)'"
    }

    /// - Parameter owner: the connection that owns the sender's name.
    func matches(_ message: BusMessage, owner: String?) -> Bool {
        message.sender == owner && (path == nil || message.path == path) && message.interface == interface
            && message.member == member
    }
}
