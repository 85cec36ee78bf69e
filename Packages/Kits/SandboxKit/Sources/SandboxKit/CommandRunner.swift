import Capabilities
public import FileKit
public import ProcessKit

/// Runs commands in a folder, each in a separate process group, and in a sandbox if one is given.
public final class CommandRunner: Sendable {
    /// How long a command may run after it was asked to end.
    static let grace = Duration.milliseconds(200)

    private let launcher: Launcher
    private let variables: [String: String]
    private let sandbox: Sandbox?
    private let engine: SandboxEngine

    /// - Parameters:
    ///   - variables: the environment of the commands.
    ///   - sandbox: limits what they see and change; nil for the rights of the user.
    public convenience init(variables: [String: String], sandbox: Sandbox?) {
        self.init(variables: variables, sandbox: sandbox, by: nil, launcher: Launcher())
    }

    init(variables: [String: String], sandbox: Sandbox?, by engine: Engine?, launcher: Launcher) {
        self.launcher = launcher
        self.variables = variables
        self.sandbox = sandbox
        self.engine = SandboxEngine(launcher: launcher, variables: variables, by: engine)
    }

    /// Runs a command until it ends or its time is over. Then, or when the task is cancelled, its process group is
    /// asked to end, and is killed after the grace period.
    ///
    /// Processes that it leaves behind are killed as well. Its output goes to `tell` as it arrives; a slow reader slows
    /// the command down. Standard error is merged into standard output, so that the order is kept.
    ///
    /// - Parameters:
    ///   - folder: the working folder of the command.
    ///   - root: the folder, equal to or above it, that a sandboxed command can write to.
    ///   - hidden: paths in it that a sandboxed command cannot see.
    ///   - kept: paths in it that a sandboxed command can only read.
    /// - Returns: how it ended. As in a shell, exit code 127 means that the program is not in the sandbox, and 126 that
    ///   it cannot be executed.
    /// - Throws: `SandboxError` if the sandbox cannot be created; the command was not run. Without a sandbox,
    ///   `ProcessError` if the program cannot be started.
    public func run(
        _ words: [String], input: [UInt8]? = nil, in folder: Folder, of root: Folder, hiding hidden: [String] = [],
        keeping kept: [String] = [], limit: Duration? = nil,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> CommandResult {
        // The folder must stay open until the command has started there.
        defer { withExtendedLifetime(folder) {} }
        // The program continues the trace. In a sandbox it learns no more than its ids.
        let span = ProcessSpan(of: words[0])
        let traced = span.variables(withState: sandbox == nil)
        guard var sandbox else {
            // By its descriptor, so that a changed path cannot lead elsewhere.
            var command = Command(
                words[0], Array(words.dropFirst()),
                environment: CommandEnvironment(variables.merging(traced) { given, _ in given }),
                workingDirectory: "/proc/self/fd/\(folder.descriptor.rawValue)")
            command.span = span
            return try await follow(command, input, for: limit, telling: tell)
        }
        sandbox.hidden += hidden
        sandbox.kept += kept
        let sandboxed = try await engine.command(words, in: sandbox, around: root, from: folder, adding: traced)
        // The guard must hold until the command has ended.
        defer { withExtendedLifetime(sandboxed) {} }
        do {
            var command = sandboxed.command
            command.span = span
            var result = try await follow(command, input, for: limit, telling: tell)
            result.engine = sandboxed.kind
            guard sandboxed.hasFailed(result.status) else { return result }
            // The program did not run, so the output is only bubblewrap's.
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

    /// The kind of sandbox on this machine. Throws `SandboxError` if there is none.
    public func support() async throws -> SandboxSupport { try await engine.support() }

    private func follow(
        _ given: Command, _ input: [UInt8]?, for limit: Duration?,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> CommandResult {
        var command = given
        command.errors = .output
        command.hasNoCore = true
        if let input { command.input = .bytes(input) }
        // The command must not outlive a killed server.
        command.endsWithParent = true
        // Without a terminal, the command cannot stop to ask for a password.
        command.hasOwnSession = true
        return try await launcher.withChild(command, grace: .zero) { child in
            let following = CommandFollower(child: child, output: try child.output, limit: limit, tell: tell)
            let (stop, stopping) = AsyncStream<Void>.makeStream()
            // This task must see the end of a stopped command, which a cancelled task could not wait for. It is awaited
            // below in any case.
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
    /// The output, including standard error.
    public internal(set) var output: OutputExcerpt
    /// Nil if it had to be killed.
    public internal(set) var status: ChildStatus?
    /// Whether the command was ended because its time was over.
    public internal(set) var isOverTime = false
    /// The kind of sandbox; nil if there was none.
    public internal(set) var engine: SandboxSupport.Kind?
}

/// Follows a running command until it and its descendants have ended or were killed.
struct CommandFollower: Sendable {
    /// How long to wait for remaining output if a process out of reach keeps the pipe open.
    private static let rest = Duration.milliseconds(200)

    let child: ChildProcess
    let output: OutputPipe
    /// Nil for no limit.
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
                    // Processes left behind get no extra time, except in a stopped group, which has its grace period.
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
            // Cancelled because the wait for the rest is over. The output so far is the result.
        }
        let piece = text.rest()
        if !piece.isEmpty { await tell(piece) }
        return excerpt
    }

    private func status() async -> ChildStatus? {
        // This throws if the end is no longer awaited. Then there is no status.
        do { return try await child.exitStatus() } catch { return nil }
    }

    /// False if it was cancelled.
    private func pause(_ time: Duration) async -> Bool {
        do {
            try await ContinuousClock().sleep(for: time)
            return true
        } catch {
            return false
        }
    }
}

/// The beginning and the end of a long output. Its memory use is limited.
public struct OutputExcerpt: Sendable {
    static let largestHead = 16 << 10
    static let largestTail = 48 << 10

    private var head: [UInt8] = []
    private var tail: [UInt8] = []
    /// The number of all bytes so far, including those that are left out of the text.
    public private(set) var count = 0

    /// An excerpt of no output.
    public init() {}

    /// Appends the next bytes of the output.
    public mutating func add(_ bytes: [UInt8]) {
        count += bytes.count
        let room = Self.largestHead - head.count
        head += bytes.prefix(room)
        tail += bytes.dropFirst(room)
        // Cut only at twice the size, so that the kept bytes are not moved for every piece.
        if tail.count > 2 * Self.largestTail { tail.removeFirst(tail.count - Self.largestTail) }
    }

    /// The text. If the middle is left out, it reports the number of bytes and continues at the start of a line, if
    /// possible.
    public var text: String {
        guard count > Self.largestHead + Self.largestTail else { return String(decoding: head + tail, as: UTF8.self) }
        var start = head[...]
        if let last = start.lastIndex(of: UInt8(ascii: "\n")) { start = start[...last] }
        var end = tail.suffix(Self.largestTail)
        if let first = end.firstIndex(of: UInt8(ascii: "\n")) { end = end[(first + 1)...] }
        let left = count - start.count - end.count
        let line = start.last == UInt8(ascii: "\n") ? "" : "\n"
        return String(decoding: start, as: UTF8.self) + "\(line)[… \(left) bytes omitted …]\n"
            + String(decoding: end, as: UTF8.self)
    }
}

/// Decodes UTF-8 from pieces that may end in the middle of a character.
struct UTF8Pieces: Sendable {
    private var open: [UInt8] = []

    /// The text of the next piece, without an incomplete character at its end.
    mutating func text(_ bytes: [UInt8]) -> String {
        let all = open.isEmpty ? bytes : open + bytes
        let whole = all.count - Self.unfinished(all)
        open = Array(all[whole...])
        return String(decoding: all[..<whole], as: UTF8.self)
    }

    /// The incomplete bytes at the end.
    mutating func rest() -> String {
        defer { open = [] }
        return String(decoding: open, as: UTF8.self)
    }

    /// The number of bytes at the end that belong to an incomplete character.
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
