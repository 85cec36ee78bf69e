public import Capabilities
import FileKit
import JSON
import RPCKit
import Synchronization

/// Keeps the messages of connections with a server in a file, one JSON object a line, without secrets:
///
///     {"time": "2026-11-26T18:00:00Z", "server": "git"}
///     {"time": "2026-11-26T18:00:00Z", "sent": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}
///     {"time": "2026-11-26T18:00:01Z", "received": {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}}
///
/// A file that is there already is continued, so that several commands make one recording.
public final class TrafficRecorder: Sendable {
    private let path: GrantedPath
    private let redactor: Redactor
    private let now: @Sendable () -> Timestamp
    /// Why the recording is not whole. Held while a line is written, so that lines keep the order of the messages.
    private let problem = Mutex<FileError?>(nil)

    /// Begins to record a connection.
    public init(
        _ path: GrantedPath, server: String, redactor: Redactor, now: @escaping @Sendable () -> Timestamp
    ) throws {
        self.path = path
        self.redactor = redactor
        self.now = now
        try path.append(line(["server": .string(server)]))
    }

    private func line(_ content: JSONObject) -> [UInt8] {
        var object: JSONObject = ["time": .string(now().iso8601)]
        for (name, value) in content { object[name] = value }
        return Array(JSON.object(object).text().utf8) + [UInt8(ascii: "\n")]
    }

    /// Keeps something that went over the connection.
    public func add(_ traffic: ServerTraffic) {
        let content: JSONObject
        do {
            content =
                switch traffic {
                case .sent(let message): ["sent": try clean(message)]
                case .received(let message): ["received": try clean(message)]
                case .malformed, .failed: ["problem": .string(redactor.redact(traffic.line))]
                }
        } catch {
            // Deeper than what is read again.
            content = ["problem": "a message that cannot be kept"]
        }
        problem.withLock { problem in
            guard problem == nil else { return }
            do throws(FileError) { try path.append(line(content)) } catch { problem = error }
        }
    }

    /// Throws if something could not be written.
    public func check() throws {
        if let error = problem.withLock({ $0 }) { throw error }
    }

    private func clean(_ message: RPCMessage) throws(JSONError) -> JSON {
        SecretMembers.hidden(in: redactor.redact(try JSON(parsing: message.bytes)))
    }
}

/// Members whose names say that they hold a secret.
enum SecretMembers {
    /// Names of the protocol that only sound so.
    private static let harmless: Set<String> = ["progressToken", "maxTokens"]

    /// Members with schemas, which have names of secrets and no secrets.
    private static let schemas: Set<String> = ["inputSchema", "outputSchema", "requestedSchema"]

    /// The value with a mark in place of each text in such a member, however deep.
    static func hidden(in value: JSON, isSecret: Bool = false) -> JSON {
        switch value {
        case .string: return isSecret ? .string(Redactor.mark) : value
        case .array(let items): return .array(items.map { hidden(in: $0, isSecret: isSecret) })
        case .object(let members):
            var object: JSONObject = [:]
            for (name, member) in members {
                let names = !harmless.contains(name) && SecretNames.isSecret(name)
                object[name] =
                    schemas.contains(name) ? member : hidden(in: member, isSecret: isSecret || names)
            }
            return .object(object)
        default: return value
        }
    }

    /// Whether a value is what was recorded. A text of which a part was hidden fits every text.
    static func fits(_ value: JSON?, recorded: JSON?) -> Bool {
        switch (value, recorded) {
        case (_, .string(let text)?) where text.contains(Redactor.mark): return value?.string != nil
        case (.array(let items)?, .array(let others)?):
            return items.count == others.count && zip(items, others).allSatisfy { fits($0, recorded: $1) }
        case (.object(let members)?, .object(let others)?):
            return members.count == others.count
                && members.allSatisfy { name, member in others[name].map { fits(member, recorded: $0) } ?? false }
        default: return value == recorded
        }
    }
}
