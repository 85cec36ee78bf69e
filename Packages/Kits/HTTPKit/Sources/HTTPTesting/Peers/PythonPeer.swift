import FileKit
import ProcessKit

/// A Python program that a test talks to, with the packages of `.ci/peers`. It prints its port as the first line.
public struct PythonPeer: Sendable {
    /// The port that the program printed.
    public let port: Int
    private let child: ChildProcess

    /// The next line of its output, or nil at the end.
    public func nextLine() async throws -> String? {
        try await child.output.nextLine().map { String(decoding: $0, as: UTF8.self) }
    }

    /// The path of one of the programs in this package's folder `Peers`.
    public static func path(_ name: String) -> String {
        let parts = #filePath.split(separator: "/").dropLast(4)
        return parts.map { "/\($0)" }.joined() + "/Peers/\(name)"
    }

    /// Runs a file for the length of `body`, then ends it and its children.
    public static func run<Result>(
        file: String, _ arguments: [String] = [], isolation: isolated (any Actor)? = #isolation,
        during body: (PythonPeer) async throws -> Result
    ) async throws -> Result {
        let runner = "import runpy\nsys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')"
        return try await run(program: runner, [file] + arguments, during: body)
    }

    /// Runs a program given as text for the length of `body`.
    public static func run<Result>(
        source: String, _ arguments: [String] = [], isolation: isolated (any Actor)? = #isolation,
        during body: (PythonPeer) async throws -> Result
    ) async throws -> Result {
        try await run(program: source, arguments, during: body)
    }

    private static func run<Result>(
        program: String, _ arguments: [String], isolation: isolated (any Actor)? = #isolation,
        during body: (PythonPeer) async throws -> Result
    ) async throws -> Result {
        var command = Command(
            try PeerPrograms.python(), ["-u", "-c", "\(watched)\n\(program)"] + arguments,
            environment: PeerPrograms.environment())
        command.input = .pipe
        return try await Launcher.standalone.withChild(command, grace: .milliseconds(200)) { child in
            guard let line = try await child.output.nextLine(),
                let port = Int(String(decoding: line, as: UTF8.self))
            else {
                let words = String(decoding: child.errorTail, as: UTF8.self)
                throw ScriptError.failed("a Python peer did not print its port: \(words)")
            }
            return try await body(PythonPeer(port: port, child: child))
        }
    }

    private static let watched = "\(PeerPrograms.supervisor)\nwatch(lambda: os._exit(0))"

    /// Runs a program to its end and returns its output; a program that hangs is ended at the limit.
    public static func output(
        source: String, _ arguments: [String] = [], input: [UInt8] = [], limit: Duration = .seconds(250)
    ) async throws -> String {
        var command = Command(
            try PeerPrograms.python(), ["-c", source] + arguments, environment: PeerPrograms.environment())
        command.input = .bytes(input)
        let result = try await Launcher.standalone.run(command, timeout: limit)
        guard result.status == .exited(0) else {
            throw ScriptError.failed("a Python peer failed: \(String(decoding: result.errors, as: UTF8.self))")
        }
        return String(decoding: result.output, as: UTF8.self)
    }
}

/// Finds and runs the programs that tests talk to.
enum PeerPrograms {
    /// The variables of the peers: those of this process without secrets, and sbin, where Debian installs nginx.
    static func environment() -> CommandEnvironment {
        let own = Environment.snapshot()
        let path = (own["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin:/sbin"
        return .inheriting(own, adding: ["PATH": path, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"])
    }

    /// Python code that runs a program until it ends or its own input closes. A test that crashes cannot end its peers,
    /// but the pipe to them closes.
    static let supervisor = """
        import os, select, subprocess, sys, threading
        def watch(leave):
            def wait():
                while True:
                    # A program may read its input too, and may have made it not block.
                    select.select([0], [], [])
                    try:
                        if not os.read(0, 4096):
                            return leave()
                    except BlockingIOError:
                        pass
            threading.Thread(target=wait, daemon=True).start()
        def supervise(arguments, descriptors=()):
            child = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, pass_fds=descriptors)
            watch(child.terminate)
            sys.exit(child.wait())
        """

    /// The Python with the packages of `.ci/peers`: the one in MARTLET_PEERS, or in `.build/peers` of the project,
    /// where `make setup` installs it.
    static func python() throws -> String {
        if let peers = Environment.snapshot()["MARTLET_PEERS"] { return "\(peers)/bin/python" }
        var folder = #filePath
        while let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
            folder = String(folder[..<slash])
            let python = "\(folder)/.build/peers/bin/python"
            if Files.exists(python) { return python }
        }
        throw ScriptError.failed("the Python peers are not installed: run `make setup`, or set MARTLET_PEERS")
    }
}
