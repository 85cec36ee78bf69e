import Capabilities
public import FileKit
public import ProcessKit

/// Runs commands in a folder, each in a group of processes of its own and in a sandbox, if there is to be one.
public final class CommandRunner: Sendable {
    /// How long a command has after it was asked to end.
    static let grace = Duration.milliseconds(200)

    private let launcher: Launcher
    private let variables: [String: String]
    private let sandbox: Sandbox?
    private let engine: SandboxEngine

    /// - Parameters:
    ///   - variables: all that commands get.
    ///   - sandbox: what they see and may change; nil for what the user sees and may change.
    public convenience init(variables: [String: String], sandbox: Sandbox?) {
        self.init(variables: variables, sandbox: sandbox, by: nil, launcher: Launcher())
    }

    init(variables: [String: String], sandbox: Sandbox?, by engine: Engine?, launcher: Launcher) {
        self.launcher = launcher
        self.variables = variables
        self.sandbox = sandbox
        self.engine = SandboxEngine(launcher: launcher, variables: variables, by: engine)
    }

    /// Runs a command to its end, or until the limit is over; then the whole group is asked to end, and killed after
    /// the grace, and so it is at once in a task that is cancelled.
    ///
    /// What it has started and left behind is ended with it. What it prints goes to `tell` as it comes; a command
    /// that prints faster than that is taken has to wait. Standard error is joined to standard output, so that what is
    /// printed keeps its order.
    ///
    /// - Parameters:
    ///   - folder: where it starts.
    ///   - root: the folder in or above it in which a command in a sandbox may write.
    ///   - hidden: what it must not see of that, in a sandbox.
    ///   - kept: what it may see and not write.
    /// - Returns: how it ended; with the exit code 127 of a shell where there is no such program in the sandbox, and 126
    ///   where it cannot be executed.
    /// - Throws: `SandboxError` where it was to be in a sandbox and could not be; then it was not run. Without a sandbox
    ///   `ProcessError` where the program cannot be started.
    public func run(
        _ words: [String], input: [UInt8]? = nil, in folder: Folder, of root: Folder, hiding hidden: [String] = [],
        keeping kept: [String] = [], limit: Duration? = nil,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> CommandResult {
        // It is open for as long as it takes to start there.
        defer { withExtendedLifetime(folder) {} }
        guard var sandbox else {
            // By its descriptor: no path can be made to lead elsewhere meanwhile.
            let command = Command(
                words[0], Array(words.dropFirst()), environment: CommandEnvironment(variables),
                workingDirectory: "/proc/self/fd/\(folder.descriptor.rawValue)")
            return try await follow(command, input, for: limit, telling: tell)
        }
        sandbox.hidden += hidden
        sandbox.kept += kept
        let sandboxed = try await engine.command(words, in: sandbox, around: root, from: folder)
        // What it guards stays guarded until the command has ended.
        defer { withExtendedLifetime(sandboxed) {} }
        do {
            var result = try await follow(sandboxed.command, input, for: limit, telling: tell)
            result.engine = sandboxed.kind
            guard sandboxed.hasFailed(result.status) else { return result }
            // What was not run has printed nothing: there is only what bubblewrap says.
            let errors = Array(result.output.text.utf8)
            guard let code = sandboxed.exitCode(ofUnstarted: errors) else {
                throw SandboxError.notMade(SandboxError.firstLine(of: errors))
            }
            result.status = .exited(code)
            return result
        } catch let error as ProcessError {
            guard let code = sandboxed.exitCode(ofUnstarted: error) else {
                throw SandboxError.notMade(error.message)
            }
            let text = "\(error.message)\n"
            await tell(text)
            var result = CommandResult(output: OutputExcerpt(), status: .exited(code), engine: sandboxed.kind)
            result.output.add(text.bytes)
            return result
        }
    }

    /// What sandboxes are made by on this machine; throws `SandboxError` where none can be.
    public func support() async throws -> SandboxSupport { try await engine.support() }

    private func follow(
        _ given: Command, _ input: [UInt8]?, for limit: Duration?,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> CommandResult {
        var command = given
        command.errors = .output
        command.hasNoCore = true
        if let input { command.input = .bytes(input) }
        // It must not outlive a server that was killed.
        command.endsWithParent = true
        // Without a terminal there is none to ask for a password at, which would stop the command for good.
        command.hasOwnSession = true
        return try await launcher.withChild(command, grace: .zero) { child in
            let following = CommandFollowing(child: child, output: try child.output, limit: limit, tell: tell)
            let (stop, stopping) = AsyncStream<Void>.makeStream()
            // It has to see the end of a command that was stopped, which nothing in a cancelled task can wait for. This
            // closure is its owner and waits for it in any case.
            let work = Task { await following.run(stop) }
            return try await withTaskCancellationHandler {
                let result = await work.value
                try Task.checkCancellation()
                return result
            } onCancel: {
                stopping.finish()
            }
        }
    }
}

/// How a command ended.
public struct CommandResult: Sendable {
    /// What it printed, its messages among it.
    public internal(set) var output: OutputExcerpt
    /// Nil where it had to be killed.
    public internal(set) var status: ChildStatus?
    public internal(set) var isOverTime = false
    /// What its sandbox was made by; nil where it had none.
    public internal(set) var engine: SandboxSupport.Kind?
}

/// Takes what a running command prints, until it and all that it has started have ended or have to.
struct CommandFollowing: Sendable {
    /// How long is waited for the rest of what was printed, where somebody out of reach still holds the other end.
    private static let rest = Duration.milliseconds(200)

    let child: ChildProcess
    let output: OutputPipe
    /// Nil for a command that may take any time.
    let limit: Duration?
    let tell: @Sendable (String) async -> Void

    private enum Event: Sendable {
        case output(OutputExcerpt)
        case ended(ChildStatus?)
        case limitIsOver
        case stopped
        case restIsOver
        case cancelled
    }

    /// Ends soon after `stop` does.
    func run(_ stop: AsyncStream<Void>) async -> CommandResult {
        await withTaskGroup(of: Event.self) { group in
            var result = CommandResult(output: OutputExcerpt())
            var hasAll = false
            var isEnding = false
            group.addTask { .output(await take()) }
            group.addTask { .ended(await status()) }
            if let limit { group.addTask { await pause(limit) ? .limitIsOver : .cancelled } }
            group.addTask {
                for await _ in stop {}
                return Task.isCancelled ? .cancelled : .stopped
            }
            for await event in group {
                switch event {
                case .output(let output):
                    (result.output, hasAll) = (output, true)
                case .ended(let status):
                    result.status = status
                    // Those that it has left behind have no time of their own, but for that of a group that was stopped.
                    if !isEnding { child.send(.kill) }
                    group.addTask { await pause(Self.rest) ? .restIsOver : .cancelled }
                case .limitIsOver, .stopped:
                    guard !isEnding, result.status == nil else { continue }
                    isEnding = true
                    if case .limitIsOver = event { result.isOverTime = true }
                    child.send(.terminate)
                    group.addTask { await pause(CommandRunner.grace) ? .restIsOver : .cancelled }
                case .restIsOver: group.cancelAll()
                case .cancelled: continue
                }
                if hasAll, result.status != nil { group.cancelAll() }
            }
            return result
        }
    }

    private func take() async -> OutputExcerpt {
        var excerpt = OutputExcerpt()
        var text = UTF8Pieces()
        do {
            while let bytes = try await output.read() {
                excerpt.add(bytes)
                let piece = text.text(bytes)
                if !piece.isEmpty { await tell(piece) }
            }
        } catch {
            // Cancelled, because nobody waits for the rest: what came until now is what there is.
        }
        let piece = text.rest()
        if !piece.isEmpty { await tell(piece) }
        return excerpt
    }

    private func status() async -> ChildStatus? {
        // It throws when its end is no longer waited for, and then it has none.
        do { return try await child.exitStatus() } catch { return nil }
    }

    /// False when it was cancelled.
    private func pause(_ time: Duration) async -> Bool {
        do {
            try await ContinuousClock().sleep(for: time)
            return true
        } catch {
            return false
        }
    }
}

/// The beginning and the end of a long text, such as what a command printed, in memory that does not grow with it.
public struct OutputExcerpt: Sendable {
    static let largestHead = 16 << 10
    static let largestTail = 48 << 10

    private var head: [UInt8] = []
    private var tail: [UInt8] = []
    public private(set) var count = 0

    public init() {}

    public mutating func add(_ bytes: [UInt8]) {
        count += bytes.count
        let room = Self.largestHead - head.count
        head += bytes.prefix(room)
        tail += bytes.dropFirst(room)
        // Cut only at twice the size, so that what is kept is not moved for every piece.
        if tail.count > 2 * Self.largestTail { tail.removeFirst(tail.count - Self.largestTail) }
    }

    /// As a text; where the middle is left out, it says how much, and begins with a whole line where there is one.
    public var text: String {
        guard count > Self.largestHead + Self.largestTail else { return String(decoding: head + tail, as: UTF8.self) }
        var start = head[...]
        if let last = start.lastIndex(of: UInt8(ascii: "\n")) { start = start[...last] }
        var end = tail.suffix(Self.largestTail)
        if let first = end.firstIndex(of: UInt8(ascii: "\n")) { end = end[(first + 1)...] }
        let left = count - start.count - end.count
        let line = start.last == UInt8(ascii: "\n") ? "" : "\n"
        return String(decoding: start, as: UTF8.self) + "\(line)[… \(left) bytes are left out here …]\n"
            + String(decoding: end, as: UTF8.self)
    }
}

/// Makes texts of pieces of bytes that may end in the middle of a character.
struct UTF8Pieces: Sendable {
    private var open: [UInt8] = []

    /// The text of another piece, but for a character that it only begins.
    mutating func text(_ bytes: [UInt8]) -> String {
        let all = open.isEmpty ? bytes : open + bytes
        let whole = all.count - Self.unfinished(all)
        open = Array(all[whole...])
        return String(decoding: all[..<whole], as: UTF8.self)
    }

    /// What was left open at the end.
    mutating func rest() -> String {
        defer { open = [] }
        return String(decoding: open, as: UTF8.self)
    }

    /// How many of the last bytes are the beginning of a character that goes on.
    private static func unfinished(_ bytes: [UInt8]) -> Int {
        for back in 1...3 where back <= bytes.count {
            let byte = bytes[bytes.count - back]
            if byte & 0xC0 == 0x80 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > back ? back : 0
        }
        return 0
    }
}
