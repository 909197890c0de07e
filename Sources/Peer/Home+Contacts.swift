package import Contacts
import HandlerCatalog
package import SecureTransport
package import Sharing
package import UniformTypes

extension Home {
    /// File of the contacts.
    package var contactsPath: String { state + "/contacts.json" }

    /// File of the visibility that was chosen.
    package var visibilityPath: String { state + "/visibility.json" }

    /// Folder of what waits to be sent.
    package var outbox: String { state + "/outbox" }

    /// The contacts of this user. Reads nothing yet.
    package func contactBook() -> ContactBook { ContactBook(path: contactsPath) }

    /// Who this peer is. Its key is made where there is none. Blocks on the disk.
    ///
    /// - Throws: `IdentityError` for a key that cannot be read or made.
    package func ownID() throws(IdentityError) -> PeerID {
        try Identity.load(orMakeIn: state).peerID
    }

    /// All types that are known here, those among them that handlers declare. Blocks on the disk.
    package func typeRegistry() -> TypeRegistry {
        // What types there are does not depend on any setting.
        handlerCatalog(Settings([], hostName: "")).load().registry
    }
}
