import ContentCheck
import Digests
import GRDB
import Sharing
import UniformTypes

/// An arrival that was intended and never settled.
enum UnsettledRow {
    static let columns = "number, device, inode, name, folder, kind, protection"

    static func unsettled(_ row: Row) throws(UnreadableRowError) -> UnsettledArrival {
        var columns = ColumnReader(row, "arrival")
        let number = ArrivalNumber(try columns.integer("number"))
        let device = try columns.optionalBits("device")
        let inode = try columns.optionalBits("inode")
        var identity: FileIdentity?
        if let device, let inode { identity = FileIdentity(device: device, inode: inode) }
        let name = try columns.text("name", ColumnReader.safeName)
        let folder = try columns.optionalText("folder") { try? SafeRelativePath($0) }
        let kind = try columns.text("kind", ItemKind.init(rawValue:))
        let protection = try columns.optionalText("protection", ProtectionClass.init(rawValue:)) ?? .none
        return UnsettledArrival(
            number: number, identity: identity, name: name, folder: folder,
            isSealedFile: protection.isSealed && kind != .tree)
    }
}
