import Capabilities
import FileKit
import Glibc
import LoopKit
import ProcessKit
public import SSHCore
import Synchronization

/// A connection by the system's ssh, for what libssh2 cannot do. The known hosts, the questions and the errors are the same.
///
/// One ssh holds the connection, and others run their commands on it, by a socket in a folder for this user alone. ssh has no
/// terminal: its questions come by a pipe there, never by its environment or its arguments.
public final class SystemSSH: SSHLink {
    public let settings: SSHSettings
    public let reason: String?
    private let environment: CommandEnvironment
    private let folder: PrivateFolder
    private let launcher: Launcher
    private let state = Mutex(State())

    private struct State {
        var master: Task<Void, Never>?
        /// Why the connection is over.
        var end: SSHError?
    }

    private init(
        _ settings: SSHSettings, _ configuration: SSHConfiguration, reason: String
    ) throws {
        (self.settings, self.reason) = (settings, reason)
        environment = CommandEnvironment.inheriting(settings.variables)
        launcher = Caller.current == nil && configuration.withoutCaller == .person ? .standalone : Launcher()
        folder = try PrivateFolder(settings.variables)
    }

    deinit {
        state.withLock { $0.master }?.cancel()
        folder.remove()
    }

    /// Connects, with a question about an unknown key.
    static func connect(
        to settings: SSHSettings, with configuration: SSHConfiguration, because reason: String
    ) async throws -> SystemSSH {
        try permit(settings, configuration, reason)
        return try await Tracer.current.span("ssh connect", .client, of: "ssh") { span in
            span.set(.serverAddress, .string(settings.hostName))
            span.set(.serverPort, .int(settings.port))
            let link = try SystemSSH(settings, configuration, reason: reason)
            do {
                try await link.start(configuration)
                return link
            } catch {
                let key = link.presentedKey
                await link.close()
                guard let failure = error as? SSHError, failure.kind == .unknownHost, let key else { throw error }
                let check = try HostKeyCheck(settings, questions: configuration.questions, isOwn: false)
                let verdict = try await check.judge(key, from: settings.hostName)
                span.set(.decision, .string(verdict))
            }
            let second = try SystemSSH(settings, configuration, reason: reason)
            do { try await second.start(configuration) } catch {
                await second.close()
                throw error
            }
            return second
        }
    }

    /// The key that a host has now. Nothing is tried to sign in.
    static func hostKey(
        of settings: SSHSettings, with configuration: SSHConfiguration, because reason: String
    ) async throws -> PresentedHostKey {
        try permit(settings, configuration, reason)
        return try await Tracer.current.span("ssh connect", .client, of: "ssh") { span in
            span.set(.serverAddress, .string(settings.hostName))
            span.set(.serverPort, .int(settings.port))
            let link = try SystemSSH(settings, configuration, reason: reason)
            var failure: any Error = SSHError.needsSystem(settings, "\(reason); its key is told to nobody else")
            // It cannot succeed, but only after the host has shown its key.
            do {
                try await link.start(configuration, options: ["BatchMode=yes", "PreferredAuthentications=none"])
            } catch {
                failure = error
            }
            let key = link.presentedKey
            await link.close()
            guard let key else { throw failure }
            let check = try HostKeyCheck(settings, questions: SSHQuestions(), isOwn: false)
            return PresentedHostKey(key: key, address: settings.hostName, verdict: check.verdict(on: key))
        }
    }

    /// Whether the system's ssh may be used, and is there.
    private static func permit(_ settings: SSHSettings, _ configuration: SSHConfiguration, _ reason: String) throws {
        let grant = Caller.current?.grant ?? configuration.withoutCaller
        try grant.check(.host(settings.hostName, port: settings.port))
        // ssh looks the name up by itself, and could be led to an address that the caller may not reach.
        guard grant == .person || settings.hasNumericHost && settings.proxyJump == nil && settings.proxyCommand == nil
        else {
            throw SSHError.needsSystem(settings, "\(reason); others than you need an address as its HostName for that")
        }
        guard !Command("ssh", environment: CommandEnvironment(settings.variables)).isMissing else {
            throw SSHError.needsSystem(settings, "\(reason); install it (Debian: apt install openssh-client)")
        }
    }

    public func close() async {
        let master = state.withLock { state in
            state.end = state.end ?? SSHError(.closed, "the connection to \(settings.hostName) was closed")
            defer { state.master = nil }
            return state.master
        }
        master?.cancel()
        await master?.value
        folder.remove()
    }

    // MARK: The connection

    /// Starts the ssh that holds the connection, and waits until the host has accepted the user.
    private func start(_ configuration: SSHConfiguration, options: [String] = []) async throws {
        let asked = try AskedSecrets(in: folder, configuration, settings)
        var command = Command(
            "ssh", arguments(asked, options),
            environment: CommandEnvironment(environment.variables.merging(asked.variables) { $1 }))
        command.output = .null
        command.hasOwnSession = true
        command.endsWithParent = true
        command.hasNoCore = true
        // It belongs to this link, which cancels it and waits for its end when it is closed.
        let master = Task { [launcher, command, settings, path = log, weak self] in
            var failure: any Error
            do {
                let messages = try await launcher.withChild(command) { child in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { try await asked.serve() }
                        group.addTask { _ = try await child.exitStatus() }
                        defer { group.cancelAll() }
                        try await group.next()
                    }
                    return child.errorTail
                }
                // Of an option that it does not know, for instance, it tells before it opens its file.
                let journal = SSHJournal(path: path, settings, before: messages)
                failure = asked.refusal ?? journal.error(wasAccepted: asked.isAccepted.isSettled)
            } catch {
                failure = error
            }
            let end = failure as? SSHError ?? SSHError(.systemFailed, AnyFailure(failure).message, cause: failure)
            self?.state.withLock { state in state.end = state.end ?? end }
            asked.isAccepted.settle(with: .failure(failure))
        }
        state.withLock { $0.master = master }
        try await waitUntilAccepted(asked)
    }

    /// Waits for the host, and for as long as a person takes to answer.
    private func waitUntilAccepted(_ asked: AskedSecrets) async throws {
        while try await withTimeLimit(Self.patience, on: ContinuousClock(), asked.isAccepted.value) == nil {
            guard asked.hasAsked() else {
                throw SSHError(.timedOut, "\(settings.hostName) does not answer in time")
            }
        }
    }

    /// Where the ssh that holds the connection tells what it does.
    private var log: String { folder.file("log") }

    /// How long the host may take for all before it accepts the user.
    private static let patience = Duration.seconds(90)

    /// The key that the host has shown, if it could be told.
    private var presentedKey: HostKey? {
        let text: [UInt8]
        do throws(FileError) { text = try Files.read(folder.file("key"), limit: 1 << 20) } catch { return nil }
        guard let line = text.split(separator: 10).last else { return nil }
        let fields = line.split(separator: 32)
        return fields.count == 2 ? HostKey(type: fields[0], text: fields[1]) : nil
    }

    private func arguments(_ asked: AskedSecrets, _ first: [String]) -> [String] {
        var options =
            first + [
                "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "ControlMaster=yes",
                "ControlPath=\(folder.file("s"))",
                "ControlPersist=no", "PermitLocalCommand=yes", "LocalCommand=\(asked.acceptedCommand)",
                "LogLevel=DEBUG1",
                "ClearAllForwardings=yes", "ForkAfterAuthentication=no", "SessionType=none", "StdinNull=yes",
                "Tunnel=no",
                "NumberOfPasswordPrompts=\(max(settings.passwordPrompts, 1))",
                "ConnectTimeout=\(settings.connectTimeout ?? 30)",
                "ServerAliveInterval=\(settings.serverAliveInterval > 0 ? settings.serverAliveInterval : SSHConnection.aliveInterval)",
            ]
        // It gets the key that the host shows. Where the person's settings name one, that one stays.
        if !settings.hasKnownHostsCommand {
            options.append("KnownHostsCommand=/bin/sh -c \"test %t = NONE || echo %t %K >> \(folder.file("key"))\"")
        }
        var words = ["-x", "-a", "-T", "-E", log]
        if let file = settings.configurationFile { words += ["-F", file] }
        for option in options { words += ["-o", option] }
        if let user = settings.address.user { words += ["-l", user] }
        if let port = settings.address.port { words += ["-p", String(port)] }
        return words + ["--", settings.address.host]
    }

    // MARK: Commands

    public func run(
        _ command: SSHCommand, input: SSHInput, receive: @escaping @Sendable (SSHPiece) async throws -> Void
    ) async throws -> SSHExit {
        if let end = state.withLock({ $0.end }) { throw end }
        return try await Tracer.current.span("ssh exec", .client, of: "ssh") { span in
            span.set(.serverAddress, .string(settings.hostName))
            span.set(.serverPort, .int(settings.port))
            let exit = try await runOnMaster(command, input, receive)
            if case .exited(let code) = exit { span.set(.processExitCode, .int(code)) }
            return exit
        }
    }

    /// An ssh that works on the connection.
    private func onMaster(_ options: [String], _ words: [String], _ log: String) -> Command {
        // Without the socket, ssh would connect by itself.
        let standard = [
            "-F", "none", "-S", folder.file("s"), "-o", "ControlMaster=no", "-o", "ProxyCommand=/bin/false", "-o",
            "LogLevel=DEBUG2", "-E", log, "-x", "-a", "-T", "-e", "none",
        ]
        var process = Command(
            "ssh", standard + options + ["--", settings.address.host] + words, environment: environment)
        process.input = .pipe
        process.hasOwnSession = true
        process.endsWithParent = true
        process.hasNoCore = true
        return process
    }

    private func runOnMaster(
        _ command: SSHCommand, _ input: SSHInput, _ receive: @escaping @Sendable (SSHPiece) async throws -> Void
    ) async throws -> SSHExit {
        let own = folder.file("log-\(UInt64.random(in: 0...UInt64.max))")
        defer { unsafe unlink(own) }
        var process = onMaster([], [command.line], own)
        process.errors = .pipe
        let said = SSHJournal.size(log)
        let status = try await launcher.withChild(process) { child in
            let (output, errors, turn) = (try child.output, try child.errors, Turn())
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await Self.feed(input, to: child)
                    return false
                }
                group.addTask {
                    while let piece = try await output.read() { try await turn.pass(with: .output(piece), to: receive) }
                    return true
                }
                group.addTask {
                    while let piece = try await errors.read() { try await turn.pass(with: .errors(piece), to: receive) }
                    return true
                }
                defer { group.cancelAll() }
                // A command need not read all of its input.
                var open = 2
                while open > 0, let isStream = try await group.next() { open -= isStream ? 1 : 0 }
            }
            return try await child.exitStatus()
        }
        let since = SSHJournal(path: log, settings, from: said)
        SSHJournal.shorten(log)
        return try exit(status, SSHJournal(path: own, settings), hasSignal: since.hasSignal)
    }

    public func stream(
        to destination: SSHDestination, input: SSHInput, receive: @escaping @Sendable ([UInt8]?) async throws -> Void
    ) async throws {
        if let end = state.withLock({ $0.end }) { throw end }
        try await Tracer.current.span("ssh forward", .client, of: "ssh") { span in
            span.set(.serverAddress, .string(destination.host))
            span.set(.serverPort, .int(destination.port))
            let own = folder.file("log-\(UInt64.random(in: 0...UInt64.max))")
            defer { unsafe unlink(own) }
            let status = try await launcher.withChild(onMaster(["-W", "\(destination)"], [], own)) { child in
                let output = try child.output
                return try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await Self.feed(input, to: child) }
                    group.addTask {
                        while let piece = try await output.read() { try await receive(piece) }
                        try await receive(nil)
                    }
                    try await group.waitForAll()
                    return try await child.exitStatus()
                }
            }
            guard !status.isSuccess else { return }
            let said = SSHJournal(path: own, settings)
            if state.withLock({ $0.end }) == nil, said.text.contains("open failed") || said.text.contains("refused") {
                throw SSHError(
                    .channelRefused, "\(settings.hostName) does not connect to \(destination): \(said.last)")
            }
            throw SSHError(.disconnected, "the connection to \(settings.hostName) has ended: \(said.last)")
        }
    }

    private static func feed(_ input: SSHInput, to child: ChildProcess) async throws {
        let pipe = try child.input
        do {
            switch input {
            case .none: break
            case .bytes(let bytes): try await pipe.write(bytes)
            case .pieces(let next): while let piece = try await next() { try await pipe.write(piece) }
            }
        } catch let error as ProcessError where error.kind != .notConnected {
            // The command takes no more.
        }
        pipe.close()
    }

    /// How a command has ended. ssh says 255 for its own errors and for signals, but commands may do so too.
    private func exit(_ status: ChildStatus, _ own: SSHJournal, hasSignal: Bool) throws -> SSHExit {
        if case .exited(let code) = status, code != 255 { return .exited(Int(code)) }
        let said = own.text
        if said.contains("refused by peer") || said.contains("request failed") {
            throw SSHError(
                .channelRefused,
                "\(settings.hostName) allows no further command (\(own.last)); fewer at once may help, or a higher MaxSessions there"
            )
        }
        if said.contains("Received exit status from master 255") { return .exited(255) }
        // The name of the signal is not passed on.
        if hasSignal { return .signalled("unknown") }
        throw SSHError(
            .disconnected,
            "the connection to \(settings.hostName) has ended: \(own.last); the command may have run, and is not repeated"
        )
    }
}

extension Turn {
    /// Passes pieces of two streams one at a time.
    fileprivate func pass(
        with piece: SSHPiece, to receive: @Sendable (SSHPiece) async throws -> Void
    ) async throws {
        try await take()
        defer { pass() }
        try await receive(piece)
    }
}
