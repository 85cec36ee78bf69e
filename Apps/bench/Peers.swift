import FileKit
import Glibc
import LoopKit

/// The programs in `Peers` and other programs, run without blocking the thread pool of our own code.
enum Peers {
    static func path(_ name: String) -> String {
        let folder = #filePath.dropLast("Peers.swift".count)
        return "\(folder)Peers/\(name)"
    }

    static func output(_ program: String, _ arguments: [String]) async throws -> String {
        try await onOwnThread { Result { try Child.output(program, arguments) } }.get()
    }

    static func time(_ program: String, _ arguments: [String]) async throws -> Duration {
        try await onOwnThread { Result { try Child.time(program, arguments) } }.get()
    }

    static func processorTime(
        _ program: String, _ arguments: [String], variables: [String: String] = [:]
    ) async throws -> Duration {
        try await onOwnThread { Result { try Child.processorTime(program, arguments, variables: variables) } }.get()
    }

    /// Builds a C program from a file in `Peers`.
    static func build(_ name: String, to path: String, libraries: [String] = []) throws {
        _ = try Child.output("cc", ["-O2", "-o", path, Peers.path(name)] + libraries.map { "-l\($0)" })
    }

    /// The Python with the packages of `.ci/peers`.
    static let python = ".build/peers/bin/python"

    /// Fails if there is no Textual in the same packages.
    static func checkTextual() throws {
        guard (try? Child.output(python, ["-c", "import textual"])) != nil else {
            throw BenchmarkError("Textual is not in .build/peers; 'make setup' installs it")
        }
    }

    /// The program `llm` from the same packages.
    static let llm = ".build/peers/bin/llm"
}

/// Runs programs with plain system calls, so that our own code is not measured.
enum Child {
    /// Runs a program to its end without its output and returns the wall time.
    static func time(_ path: String, _ arguments: [String] = []) throws -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        let status = try run(path, arguments, output: "/dev/null")
        let elapsed = clock.now - start
        guard status == 0 else { throw BenchmarkError("\(path) ended with \(status)") }
        return elapsed
    }

    /// Runs a program to its end without its output and returns its processor time.
    static func processorTime(
        _ path: String, _ arguments: [String], variables: [String: String] = [:]
    ) throws -> Duration {
        let (status, usage) = wait(for: try start(path, arguments, variables: variables))
        guard status == 0 else { throw BenchmarkError("\(path) ended with \(status)") }
        return usage.processorTime
    }

    /// Runs a program to its end without its output and returns its peak memory in bytes.
    static func peakMemory(_ path: String, _ arguments: [String], variables: [String: String] = [:]) throws -> Int {
        let process = try start(path, arguments, variables: variables)
        var peak = 0
        var status: Int32 = 0
        // The system's figure at the exit includes the memory of the parent before exec.
        while unsafe waitpid(process, &status, WNOHANG) == 0 {
            peak = max(peak, highWater(of: process))
            usleep(2000)
        }
        guard status == 0, peak > 0 else { throw BenchmarkError("\(path) ended with \(status)") }
        return peak
    }

    private static func highWater(of process: pid_t) -> Int {
        // A process that has just ended has no such file.
        guard let text = try? Files.read("/proc/\(process)/status", limit: 1 << 16) else { return 0 }
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }

    /// Runs a program and returns its output.
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
        wait(for: try start(path, arguments, output: output)).status
    }

    /// Starts a program without input; call `wait(for:)` later.
    static func start(
        _ path: String, _ arguments: [String], variables: [String: String] = [:], output: String = "/dev/null"
    ) throws -> pid_t {
        try unsafe spawn(path, arguments, Environment.snapshot().merging(variables) { _, new in new }) { actions in
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
    }

    /// Starts a program on a terminal, which becomes its own; call `wait(for:)` later.
    static func start(
        _ path: String, _ arguments: [String], environment: [String: String], onTerminal terminal: String
    ) throws -> pid_t {
        try unsafe spawn(path, arguments, environment, flags: setsidFlag) { actions in
            unsafe posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
            unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
            unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
        }
    }

    /// POSIX_SPAWN_SETSID, which Swift does not import.
    private static let setsidFlag = 0x80

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String: String], flags: Int = 0,
        opening open: (inout posix_spawn_file_actions_t) -> Void
    ) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe open(&actions)
        // The threads of the pool block signals, and a child would inherit that.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(Int(POSIX_SPAWN_SETSIGMASK) | flags))
        var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        var pairs: [UnsafeMutablePointer<CChar>?] =
            unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer { unsafe (words + pairs).forEach { unsafe free($0) } }
        var process: pid_t = 0
        guard unsafe posix_spawnp(&process, path, &actions, &attributes, &words, &pairs) == 0 else {
            throw BenchmarkError("\(path) cannot be started; 'make setup' installs what is missing")
        }
        return process
    }

    /// Waits for the end of a started program.
    static func wait(for process: pid_t) -> (status: Int32, usage: rusage) {
        var usage = rusage()
        var status: Int32 = 0
        while unsafe wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
        return (status, usage)
    }
}

extension rusage {
    /// The processor time of this process so far.
    static var own: Duration {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.processorTime
    }

    var processorTime: Duration {
        .seconds(ru_utime.tv_sec + ru_stime.tv_sec) + .microseconds(ru_utime.tv_usec + ru_stime.tv_usec)
    }
}

/// The program itself, set up to use a model server on this machine.
struct MartletProgram {
    static let path = ".build/release/martlet"

    /// The home folder of the program.
    let home: String

    /// - Parameter folder: A new folder for the program's home.
    init(in folder: String) throws {
        home = "\(folder)/home"
        try Files.makeDirectories("\(home)/config")
        let settings = #"{"chat": {"model": "openai/gpt-5-mini"}}"#
        try Files.writeAtomically(Array(settings.utf8), to: "\(home)/config/config.json")
    }

    /// The environment variables with its home and the server.
    func variables(port: Int) -> [String: String] {
        Self.server(port: port).merging(["MARTLET_HOME": home]) { _, new in new }
    }

    /// The environment variables with which every client of OpenAI finds a server.
    static func server(port: Int) -> [String: String] {
        ["OPENAI_BASE_URL": "http://127.0.0.1:\(port)/v1", "OPENAI_API_KEY": "none"]
    }
}
