import Glibc

/// An exclusive lock between processes, held on a lock file for as long as the value lives.
///
/// The lock file is never removed: removing it would let two processes lock two different files of one name.
public struct FileLock: ~Copyable, Sendable {
    private let file: FileDescriptor

    private init(_ file: consuming FileDescriptor) {
        self.file = file
    }

    deinit {
        // A child that is about to start has a copy of the descriptor, which would hold the lock a little longer.
        _ = flock(file.rawValue, LOCK_UN)
    }

    /// Takes the lock if it is free. Otherwise returns nil at once.
    public static func tryAcquire(_ path: String) throws(FileError) -> FileLock? {
        let file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600, for: "lock")
        guard retryingInterrupts({ Int(flock(file.rawValue, LOCK_EX | LOCK_NB)) }) == 0 else {
            if errno == EWOULDBLOCK { return nil }
            throw FileError("lock", path, errno: errno)
        }
        return FileLock(file)
    }

    /// Takes the lock, waiting up to `limit`; throws `.busy` after that, or `CancellationError`.
    ///
    /// It polls, because waiting inside flock would block a thread of the shared pool.
    public static func acquire<C: Clock>(
        _ path: String, within limit: Duration, clock: C = ContinuousClock()
    ) async throws -> FileLock where C.Duration == Duration {
        let deadline = clock.now.advanced(by: limit)
        var pause: Duration = .milliseconds(1)
        while true {
            if let lock = try tryAcquire(path) { return lock }
            guard clock.now < deadline else {
                throw FileError(.busy, "lock", path, because: "another program still holds the lock after \(limit)")
            }
            try await clock.sleep(until: min(deadline, clock.now.advanced(by: pause)), tolerance: nil)
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    /// Releases the lock now instead of at the end of the value's life.
    public consuming func release() {}
}
