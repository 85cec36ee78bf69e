import LoopKit

extension TerminalDevice {
    /// Lends the terminal at `path` to `body`, on a thread that may block; cancelling the task ends its waits.
    static func with<Value: Sendable>(
        path: String, mode: Mode, _ body: @escaping @Sendable (borrowing TerminalDevice) throws(TerminalError) -> Value
    ) async throws(TerminalError) -> Value {
        let wake = try WakePipe()
        let answer = await withTaskCancellationHandler {
            await onThread {
                Result { () throws(TerminalError) in
                    try body(try TerminalDevice(path: path, wake: wake, mode: mode))
                }
            }
        } onCancel: {
            wake.cancel()
        }
        return try answer.get()
    }

    private static func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () -> Result<Value, TerminalError>
    ) async -> Result<Value, TerminalError> {
        do throws(LoopError) {
            return try await onOwnThread(work)
        } catch {
            return .failure(TerminalError(.system, "cannot start a thread to ask on", errno: error.errno))
        }
    }
}
