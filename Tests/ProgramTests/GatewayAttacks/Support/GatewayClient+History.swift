import HTTPClient
import HTTPCore
import JSON
import Testing

extension GatewayClient {
    /// All stored messages of a session.
    func messages(of session: String) async throws -> [JSON] {
        var messages: [JSON] = []
        for page in 1... {
            let part = try await json(.get, "/v1/sessions/\(session)/messages?per_page=100&page=\(page)")
            messages += part["data"]?.array ?? []
            if part["pagination"]?["has_next"] != true { break }
        }
        return messages
    }

    /// Expects that the history of a session is consistent, that its sums match its answers, and that the database is
    /// intact, as checked by the sqlite3 shell.
    func expectSound(session: String, _ place: SourceLocation = #_sourceLocation) async throws {
        let messages = try await messages(of: session)
        let row = try await json(.get, "/v1/sessions/\(session)")
        #expect(row["message_count"] == .int(messages.count) && row["is_running"] == false, sourceLocation: place)
        let numbers = messages.compactMap { $0["number"]?.int }
        #expect(numbers.count == messages.count && numbers == Array(Set(numbers)).sorted(), sourceLocation: place)
        var open: Set<String> = []
        for message in messages {
            let parts = message["parts"]?.array ?? []
            if message["role"] == "tool" {
                // A result belongs to a call of the answer right before it.
                for part in parts {
                    let id = part["tool_id"]?.string ?? ""
                    #expect(open.remove(id) != nil, "a result of \(id)", sourceLocation: place)
                }
            } else {
                open = Set(parts.compactMap { $0["type"] == "tool_use" ? $0["id"]?.string : nil })
            }
            #expect(message["problem"] == nil, sourceLocation: place)
        }
        let usages = messages.compactMap { $0["usage"] }
        let tokens = usages.reduce(0) { $0 + ($1["total_tokens"]?.int ?? 0) }
        #expect(row["total_tokens"]?.int ?? 0 == tokens, sourceLocation: place)
        let database = "\(home.path)/martlet/data/gateway.db"
        let checked = try await Program.martlet.shell(
            "sqlite3 \(database) 'PRAGMA integrity_check; PRAGMA foreign_key_check'", home: home.path)
        #expect(checked.output == "ok\n", "\(checked.output)\(checked.errors)", sourceLocation: place)
    }

    /// Polls a session until its turn has ended.
    func waitForEnd(of session: String) async throws {
        while try await json(.get, "/v1/chat/completions/\(session)/status")["is_running"] == true {}
    }

    /// Waits until no requests are running.
    func waitForQuiet() async throws {
        while try await !send(.get, "/metrics").text.contains("martlet_turns_running 0\n") {}
    }
}
