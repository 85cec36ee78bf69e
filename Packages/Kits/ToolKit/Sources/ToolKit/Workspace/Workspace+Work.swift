import LoopKit

extension Workspace {
    /// Runs work that blocks on a thread of its own; a cancelled task ends it at its next look.
    nonisolated(nonsending) func work<T: Sendable>(
        _ cancellation: Cancellation = Cancellation(), _ body: @escaping @Sendable (Cancellation) throws -> T
    ) async throws -> T {
        let result = try await withTaskCancellationHandler {
            try await onOwnThread {
                Result {
                    try cancellation.check()
                    return try self.present { try body(cancellation) }
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    /// When the folder goes while something is done in it, that is why it fails.
    private func present<T>(_ body: () throws -> T) throws -> T {
        try requirePresent()
        do {
            return try body()
        } catch {
            try requirePresent()
            throw error
        }
    }
}
