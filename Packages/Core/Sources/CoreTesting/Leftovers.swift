import Glibc

/// The descriptors that this process has open, without the timers of the concurrency runtime, which come as they like.
enum OpenDescriptors {
    /// Those that are open once the runtime has what it needs for timers.
    static func settled() async throws -> Set<Int32> {
        try await ContinuousClock().sleep(for: .milliseconds(1))
        return now()
    }

    static func now() -> Set<Int32> {
        // The highest number is not known cheaply; a test process that opens more than this has another problem.
        Set((0..<Int32(4096)).filter { fcntl($0, F_GETFD) != -1 && !isTimer($0) })
    }

    private static func isTimer(_ descriptor: Int32) -> Bool {
        var target = [CChar](repeating: 0, count: 64)
        let length = unsafe readlink("/proc/self/fd/\(descriptor)", &target, target.count)
        let name = target.prefix(max(0, length)).map(UInt8.init(bitPattern:))
        return name.elementsEqual("anon_inode:[timerfd]".utf8)
    }
}

/// The children that this process has and did not wait for.
enum ChildProcesses {
    static func exist() -> Bool {
        var info = unsafe siginfo_t()
        // WNOWAIT leaves the child for whoever owns it.
        return unsafe waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0
    }
}
