import Sharing

extension Dialect {
    static let probe = Dialect(name: "waft", title: "Waft", proof: .always, givesReceipts: true, resumes: true)
}

extension DialectTable {
    static let probe = DialectTable([.probe])
}
