import Digests
import Foundation
import GRDB
package import Sharing

extension Journal {
    /// Records the new form of an arrival, before it takes the place of the old one in the Inbox. The arrival itself stays
    /// as it is until `settle`.
    ///
    /// - Throws: `storage` also if the item has left the Inbox, or another change of it is not settled.
    package func intend(_ resealing: Resealing) throws(TransferError) {
        do throws(JournalAccessError) {
            try changing("could not record the change of an item") { database in
                try database.execute(
                    sql: """
                        INSERT INTO resealings (number, protection, digest, sent_digest, sealed_contents, device, inode)
                        SELECT ?, ?, ?, ?, ?, ?, ? FROM arrivals
                        WHERE number = ? AND stored_name IS NOT NULL AND left_how IS NULL
                        """,
                    arguments: [
                        resealing.number.value, resealing.protection.rawValue, resealing.digest.description,
                        resealing.sentDigest?.description, resealing.sealedContents.map { Data($0) },
                        Int64(bitPattern: resealing.identity.device), Int64(bitPattern: resealing.identity.inode),
                        resealing.number.value,
                    ])
                guard database.changesCount == 1 else {
                    throw JournalAccessError("item \(resealing.number) has left the Inbox")
                }
            }
        } catch {
            throw error.transferError
        }
    }

    /// The changes that were intended and are not settled, with their arrivals as they were before, and the identity of
    /// the old file if it is known.
    package func resealings() throws(JournalError) -> [(Resealing, Arrival, old: FileIdentity?)] {
        try reading("could not read the changes of items") { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT r.number, r.protection, r.digest, r.sent_digest, r.sealed_contents, r.device, r.inode,
                        a.device, a.inode
                    FROM resealings AS r JOIN arrivals AS a ON a.number = r.number ORDER BY r.number
                    """
            ).compactMap { row -> (Resealing, Arrival, old: FileIdentity?)? in
                var columns = ColumnReader(row, "changed arrival")
                let number = ArrivalNumber(try columns.integer("number"))
                let resealing = Resealing(
                    number: number, protection: try columns.text("protection", ProtectionClass.init(rawValue:)),
                    digest: try columns.text("digest") { Digest($0) },
                    sentDigest: try columns.optionalText("sender's digest") { Digest($0) },
                    sealedContents: try columns.optionalBytes("sealed digests"),
                    identity: FileIdentity(device: try columns.bits("device"), inode: try columns.bits("inode")))
                guard let arrival = try JournalReader.entry(number, self.dialects, in: database)?.arrival else {
                    return nil
                }
                var old: FileIdentity?
                let device = try columns.optionalBits("old device")
                let inode = try columns.optionalBits("old inode")
                if let device, let inode {
                    old = FileIdentity(device: device, inode: inode)
                }
                return (resealing, arrival, old: old)
            }
        }
    }

    /// Ends a change, in one transaction: the arrival has its new form at this place, or with nil its old form.
    package func settle(_ resealing: Resealing, _ stored: StoredItem?) throws(TransferError) {
        do throws(JournalAccessError) {
            try changing("could not record the change of an item") { database in
                try database.execute(
                    sql: "DELETE FROM resealings WHERE number = ?", arguments: [resealing.number.value])
                guard let stored else { return }
                try database.execute(
                    sql: """
                        UPDATE arrivals SET stored_name = ?1, stored_path = ?2, device = ?3, inode = ?4, protection = ?5,
                            digest = ?6, sent_digest = ?7, sealed_contents = ?8,
                            own_digest = CASE WHEN ?5 IS NULL THEN own_digest END
                        WHERE stored_name IS NOT NULL AND (number = ?9 OR again = ?9)
                        """,
                    arguments: [
                        stored.name.text, stored.path, Int64(bitPattern: resealing.identity.device),
                        Int64(bitPattern: resealing.identity.inode),
                        resealing.protection.isSealed ? resealing.protection.rawValue : nil,
                        resealing.digest.description, resealing.sentDigest?.description,
                        resealing.sealedContents.map { Data($0) }, resealing.number.value,
                    ])
            }
        } catch {
            throw error.transferError
        }
    }
}
