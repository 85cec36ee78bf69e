import Capabilities
import HTTPClient
import HTTPCore
import JSON

/// A folder in which a gateway's tools work.
struct ServerProject {
    let id: String
    let name: String

    /// A server that pages for ever must not keep anybody.
    private static let mostPages = 50

    /// All that a gateway has.
    static func list(_ place: HTTPURL, _ access: ServerAccess) async throws -> [ServerProject] {
        var all: [ServerProject] = []
        for page in 1...mostPages {
            let response = try await access.list(place.adding("page", "\(page)").adding("per_page", "100"))
            guard let json = try? JSON(parsing: response.body, reading: .stream),
                let rows = json.array ?? json["data"]?.array
            else {
                throw ChatError(.badAnswer, "\(access.name) lists its projects in no known form", provider: access.id)
            }
            all += rows.compactMap { row in
                guard let id = row["id"]?.string, let name = row["name"]?.string else { return nil }
                return ServerProject(id: id, name: name)
            }
            guard json["pagination"]?["has_next"]?.bool == true, !rows.isEmpty else { break }
        }
        return all
    }
}
