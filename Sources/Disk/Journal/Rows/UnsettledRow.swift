import ContentCheck
import Digests
import GRDB
import Sharing
import UniformTypes

/// An arrival that was intended and never settled.
enum UnsettledRow {
    static let columns = "number, device, inode, name, folder"

    static func unsettled(_ row: Row) throws(UnreadableRowError) -> UnsettledArrival {
        var columns = ColumnReader(row, "arrival")
        let number = ArrivalNumber(try columns.integer("number"))
        let device = try columns.optionalBits("device")
        let inode = try columns.optionalBits("inode")
        var identity: FileIdentity?
        if let device, let inode { identity = FileIdentity(device: device, inode: inode) }
        return UnsettledArrival(
            number: number, identity: identity, name: try columns.text("name", ColumnReader.safeName),
            folder: try columns.optionalText("folder") { try? SafeRelativePath($0) })
    }
}
