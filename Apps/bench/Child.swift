import Glibc

/// Runs programs the plainest way there is, so that nothing of ours is in the time.
enum Child {
    /// Runs a program to its end with its output thrown away and gives the wall time.
    static func time(_ path: String, _ arguments: [String] = []) throws -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        let status = try run(path, arguments, output: "/dev/null")
        let elapsed = clock.now - start
        guard status == 0 else { throw BenchmarkError("\(path) ended with \(status)") }
        return elapsed
    }

    /// Runs a program to its end with its output thrown away and gives the time it used on the processors.
    static func processorTime(_ path: String, _ arguments: [String]) throws -> Duration {
        var usage = rusage()
        let status = try run(path, arguments, output: "/dev/null", usage: &usage)
        guard status == 0 else { throw BenchmarkError("\(path) ended with \(status)") }
        return usage.processorTime
    }

    /// Runs a program and gives what it printed.
    static func output(_ path: String, _ arguments: [String]) throws -> String {
        let file = "/tmp/martlet-bench-\(getpid()).out"
        defer { unsafe unlink(file) }
        guard try run(path, arguments, output: file) == 0 else { throw BenchmarkError("\(path) failed") }
        guard let handle = unsafe fopen(file, "r") else { throw BenchmarkError("no output of \(path)") }
        defer { unsafe fclose(handle) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while case let count = unsafe fread(&chunk, 1, chunk.count, handle), count > 0 { bytes += chunk.prefix(count) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func run(_ path: String, _ arguments: [String], output: String) throws -> Int32 {
        var usage = rusage()
        return try run(path, arguments, output: output, usage: &usage)
    }

    private static func run(
        _ path: String, _ arguments: [String], output: String, usage: inout rusage
    ) throws -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process: pid_t = 0
        guard unsafe posix_spawnp(&process, path, &actions, nil, &words, environ) == 0 else {
            throw BenchmarkError("\(path) cannot be started; 'make setup' installs what is missing")
        }
        var status: Int32 = 0
        while unsafe wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
        return status
    }
}

extension rusage {
    /// What this process used on the processors until now.
    static var own: Duration {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.processorTime
    }

    var processorTime: Duration {
        .seconds(ru_utime.tv_sec + ru_stime.tv_sec) + .microseconds(ru_utime.tv_usec + ru_stime.tv_usec)
    }
}
