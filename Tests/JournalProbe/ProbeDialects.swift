import Sharing

extension Dialect {
    static let probe = Dialect(name: "waft", title: "Waft", provesKeys: true, givesReceipts: true, resumes: true)
}

extension DialectTable {
    static let probe = DialectTable([.probe])
}
