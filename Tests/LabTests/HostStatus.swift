import Foundation
import Testing

/// What `waft status` says of a receiver that runs.
struct HostStatus: Decodable, Sendable {
    var visibility: String?
    /// Of what nothing is being written to at the moment.
    var keptPartials: Int?
}

extension Host {
    func status() async throws -> HostStatus {
        let outcome = try await run(arguments: ["status", "--json"])
        try #require(outcome.exit == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(HostStatus.self, from: Data(outcome.output.utf8))
    }
}
