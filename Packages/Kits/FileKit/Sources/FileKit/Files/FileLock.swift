import Glibc

/// An exclusive lock between processes, held on a lock file for as long as the value lives.
///
/// The lock file stays behind on purpose: removing it would let two processes lock two different files of one name.
public struct FileLock: ~Copyable, Sendable {
    private let file: FileDescriptor

    /// Takes the lock if nobody holds it, and returns nil at once if somebody does.
    public static func tryAcquire(_ path: String) throws(FileError) -> FileLock? {
        let file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600, for: "lock")
        guard retryingInterrupts({ Int(flock(file.rawValue, LOCK_EX | LOCK_NB)) }) == 0 else {
            if errno == EWOULDBLOCK { return nil }
            throw FileError("lock", path, errno: errno)
        }
        return FileLock(file: file)
    }

    /// Takes the lock, waiting up to `limit`; throws `.busy` after that, or `CancellationError`.
    ///
    /// It asks again in short intervals, because a wait inside flock would block a thread of the shared pool.
    public static func acquire<C: Clock>(
        _ path: String, within limit: Duration, clock: C = ContinuousClock()
    ) async throws -> FileLock where C.Duration == Duration {
        let deadline = clock.now.advanced(by: limit)
        var pause: Duration = .milliseconds(1)
        while true {
            if let lock = try tryAcquire(path) { return lock }
            guard clock.now < deadline else {
                throw FileError(.busy, "lock", path, because: "another program still holds it after \(limit)")
            }
            try await clock.sleep(until: min(deadline, clock.now.advanced(by: pause)), tolerance: nil)
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    /// Gives the lock back now rather than at the end of the value's life.
    public consuming func release() {}
}
