import Capabilities
import MCPServers
import Registry

extension MCPServices {
    /// Does something once it is in the audit log, and adds how it ended.
    ///
    /// - Parameters:
    ///   - refusal: what is told to be left undone if it cannot be recorded, such as `git_log was not called`.
    ///   - outcome: how it ended, by its result.
    func audited<Value>(
        _ entry: AuditEntry, orSay refusal: String, telling tell: (String) -> Void, outcome: (Value) -> String,
        _ work: () async throws -> Value
    ) async throws -> Value {
        guard let log = registry?.optional((any AuditLog).self) else { return try await work() }
        let number: Int
        do { number = try await log.record(entry) } catch {
            throw ServerError(
                .unrecorded,
                "\(refusal), since it could not be recorded in the audit log: \(AnyFailure(error).message)")
        }
        func complete(_ outcome: String) async {
            do { try await log.complete(number, AuditCompletion(outcome: outcome)) } catch {
                tell("how it ended could not be recorded: \(AnyFailure(error).message)")
            }
        }
        do {
            let value = try await work()
            await complete(outcome(value))
            return value
        } catch {
            await complete(error is CancellationError ? "stopped" : "failed")
            throw error
        }
    }
}
