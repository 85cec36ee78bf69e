import Glibc

/// The descriptors that this process has open.
enum OpenDescriptors {
    static func now() -> Set<Int32> {
        // The highest number is not known cheaply; a test process that opens more than this has another problem.
        Set((0..<Int32(4096)).filter { fcntl($0, F_GETFD) != -1 })
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
