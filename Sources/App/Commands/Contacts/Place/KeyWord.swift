import ArgumentParser
import Contacts
import Control
import Endpoints
import Foundation
import HandlerCatalog
import Journal
import Lines
import Settings
import Sharing
import UniformTypes

/// The id of a key as people type it.
enum KeyWord {
    /// - Throws: `CommandError` `usage` unless it is a whole id with check digits. Case and dashes do not matter.
    static func whole(_ text: String) throws(CommandError) -> PeerID {
        if let id = PeerID(text: text) { return id }
        let shown = TerminalText.escaped(text, limit: 80)
        let digits = text.utf8.prefix(256).filter { $0 != UInt8(ascii: "-") }
        let isID = digits.allSatisfy(alphabet.contains)
        let hint = "to print the key id of the other machine, run there: waft contacts me"
        let reason =
            switch digits.count {
            case PeerID.characters where isID:
                "is not a key id: its check digits do not match, so a character is wrong or two are swapped; copy it again"
            case PeerID.bareCharacters where isID:
                "is a key id without its check digits, \(digits.count) of \(PeerID.characters) characters; copy it again"
            case 1..<PeerID.characters where isID:
                "is only the beginning of a key id, \(digits.count) of \(PeerID.characters) characters: others could "
                    + "make keys with the same beginning; give the full id"
            default: "is not a key id, which has \(PeerID.characters) letters and digits"
            }
        throw CommandError(.usage, "\"\(shown)\" \(reason)", hint: hint)
    }

    private static let alphabet = Array("-0123456789abcdefghjkmnpqrstvwxyzABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// Characters of a text that is taken for a part of an id.
    private static let shortestBeginning = 9

    /// A contact that is named or begun, or any peer by its whole id.
    static func peer(_ text: String, in snapshot: ContactSnapshot) throws(CommandError) -> PeerID {
        do throws(ContactError) {
            return try snapshot.find(text).id
        } catch {
            if error.code == .ambiguous { throw CommandError(error) }
            // A word that is no part of an id was meant for a contact.
            guard text.utf8.count >= shortestBeginning, text.utf8.allSatisfy(alphabet.contains) else {
                throw CommandError(
                    .usage, "\"\(TerminalText.escaped(text, limit: 80))\" is neither a contact nor a whole key id",
                    hint: "see: waft contacts")
            }
            return try whole(text)
        }
    }
}
