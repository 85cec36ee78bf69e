import Glibc

/// Runs `body` on a thread of its own, which whoever called has to join or detach.
func startThread(_ body: @escaping @Sendable () -> Void) throws(ProcessError) -> pthread_t {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let box = unsafe Unmanaged.passRetained(Box(body))
    var thread = pthread_t()
    let failure = unsafe pthread_create(
        &thread, nil,
        { argument in
            guard let argument = unsafe argument else { return nil }
            unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    guard failure == 0 else {
        unsafe box.release()
        throw .system("start a thread", errno: failure)
    }
    return thread
}

/// Runs a call that blocks on a thread of its own, so that the shared pool of tasks never stands still.
func onOwnThread<T: Sendable>(_ body: @escaping @Sendable () -> T) async throws(ProcessError) -> T {
    let result: Result<T, ProcessError> = await withCheckedContinuation { continuation in
        do throws(ProcessError) {
            pthread_detach(try startThread { continuation.resume(returning: .success(body())) })
        } catch {
            continuation.resume(returning: .failure(error))
        }
    }
    return try result.get()
}
