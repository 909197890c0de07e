import GRDB
import Sharing

/// The place of an item, and its marks: they find the item at another place.
enum JournaledItemRow {
    private static let columns = "number, stored_name, stored_path, device, inode, transfer, kind, protection"

    /// The places of all items in the Inbox that have an identity on the disk.
    static func places(in database: Database, _ unreadable: (JournalError) -> Void) throws -> [JournaledItem] {
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns) FROM arrivals WHERE \(DepartureRow.holdsItem) AND inode IS NOT NULL")
        return try Row.fetchCursor(statement).readable(reporting: unreadable, place)
    }

    private static func place(_ row: Row) throws(UnreadableRowError) -> JournaledItem {
        var columns = ColumnReader(row, "arrival")
        let number = ArrivalNumber(try columns.integer("number"))
        let name = try columns.text("stored name", ColumnReader.safeName)
        let path = try columns.text("path")
        let device = try columns.optionalBits("device")
        let inode = try columns.optionalBits("inode")
        guard let device, let inode else { throw columns.unreadable("identity") }
        let transfer = try columns.text("transfer") { TransferID($0) }
        let kind = try columns.text("kind", ItemKind.init(rawValue:))
        let protection = try columns.optionalText("protection", ProtectionClass.init(rawValue:)) ?? .none
        return JournaledItem(
            number: number, stored: StoredItem(name: name, path: path),
            identity: FileIdentity(device: device, inode: inode), transfer: transfer, kind: kind,
            isSealedFile: protection.isSealed && kind != .tree)
    }
}
