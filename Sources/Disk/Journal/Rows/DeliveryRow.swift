import ContentCheck
import Digests
import GRDB
import Sharing
import UniformTypes

/// The values of an arrival that its delivery needs.
enum DeliveryRow {
    static let columns = "number, transfer, peer, due, deferred_since, deferrals, attempts, refused_by"

    static func delivery(_ row: Row) throws(UnreadableRowError) -> WaitingDelivery {
        var columns = ColumnReader(row, "arrival")
        let number = ArrivalNumber(try columns.integer("number"))
        let transfer = try columns.text("transfer") { TransferID($0) }
        let peer = try columns.text("peer", PeerID.init(bareText:))
        return try delivery(&columns, number: number, transfer: transfer, peer: peer)
    }

    static func delivery(
        _ columns: inout ColumnReader, number: ArrivalNumber, transfer: TransferID, peer: PeerID
    ) throws(UnreadableRowError) -> WaitingDelivery {
        WaitingDelivery(
            number: number, transfer: transfer, peer: peer,
            due: WallTime(milliseconds: try columns.integer("time when it is due")),
            deferredSince: try columns.optionalInteger("time of deferral").map(WallTime.init(milliseconds:)),
            deferrals: try columns.count("number of deferrals"),
            attempts: try columns.count("number of attempts"),
            refusedBy: try columns.json("list of refusals"))
    }
}
