import Foundation
import Testing

/// The status of a running receiver, as `waft status` prints it.
struct HostStatus: Decodable, Sendable {
    var processID: Int
    var visibility: String?
    /// The number of kept parts that no transfer is writing to.
    var keptPartials: Int?
}

extension Host {
    func status() async throws -> HostStatus {
        let outcome = try await run(arguments: ["status", "--json"])
        try #require(outcome.exit == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(HostStatus.self, from: Data(outcome.output.utf8))
    }
}
