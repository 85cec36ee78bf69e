import Glibc

/// What the descriptors of this process lead to, without the timers of the concurrency runtime, which come as they like.
struct OpenDescriptors {
    private let targets: Set<String>

    /// Those that are open once the runtime has what it needs for timers.
    static func settled() async throws -> OpenDescriptors {
        try await pause()
        return OpenDescriptors()
    }

    private init() {
        // The highest number is not known cheaply; a test process that opens more than this has another problem.
        targets = Set((0..<Int32(4096)).compactMap(Self.target))
    }

    /// Whether any are open that were not, and stay so: what another thread opens for a moment, or closes a little later on
    /// a busy machine, is gone at one of the next looks.
    func haveGrown() async throws -> Bool {
        var left = OpenDescriptors().targets.subtracting(targets)
        for _ in 0..<400 where !left.isEmpty {
            try await Self.pause()
            left.formIntersection(OpenDescriptors().targets)
        }
        return !left.isEmpty
    }

    private static func pause() async throws {
        try await ContinuousClock().sleep(for: .milliseconds(5))
    }

    /// The number with what it stands for, because numbers are used again.
    private static func target(of descriptor: Int32) -> String? {
        guard fcntl(descriptor, F_GETFD) != -1 else { return nil }
        var text = [CChar](repeating: 0, count: 256)
        let length = unsafe readlink("/proc/self/fd/\(descriptor)", &text, text.count)
        guard length > 0 else { return nil }
        let target = String(decoding: text.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return target == "anon_inode:[timerfd]" ? nil : "\(descriptor) \(target)"
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
