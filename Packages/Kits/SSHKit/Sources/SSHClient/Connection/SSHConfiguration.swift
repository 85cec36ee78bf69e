public import Capabilities
public import LoopKit
public import SSHCore

/// What a connection needs besides the settings of the host.
public struct SSHConfiguration: Sendable {
    /// Waits for the sockets.
    public var loop: EventLoop
    /// Who answers questions. Nobody by default, so that a question is an error.
    public var questions = SSHQuestions()
    /// What a connection that belongs to no action may reach: nothing by default. One of an action may reach what its
    /// caller may.
    public var withoutCaller = Grant.nobody
    /// The limit for the network part of each step, unless `ConnectTimeout` is shorter.
    public var patience = Duration.seconds(30)

    /// A configuration without anybody to ask.
    public init(loop: EventLoop) {
        self.loop = loop
    }

    /// For a program without sessions and actions: every host may be reached.
    public static func standalone(loop: EventLoop) -> SSHConfiguration {
        var configuration = SSHConfiguration(loop: loop)
        configuration.withoutCaller = .person
        return configuration
    }

    /// The limit of a step.
    func deadline(_ settings: SSHSettings) -> ContinuousClock.Instant {
        .now + min(patience, settings.connectTimeout.map { .seconds($0) } ?? patience)
    }
}

/// Who answers the questions of a connection. A question without anybody to ask is an error, or skips a method of
/// authentication. `BatchMode` of the settings asks nothing.
///
/// Secrets are kept only for as long as it takes to use them.
public struct SSHQuestions: Sendable {
    /// Whether to accept the key of an unknown host.
    public var hostKey: (@Sendable (HostKeyQuestion) async throws -> HostKeyDecision)?
    /// The passphrase of the private key in a file. Nil skips the key.
    public var passphrase: (@Sendable (_ file: String) async throws -> Secret?)?
    /// The password of `user@host`. Nil skips passwords.
    public var password: (@Sendable (_ account: String) async throws -> Secret?)?
    /// Answers to questions of the host, as many as there are prompts. Nil skips this method.
    public var answers: (@Sendable (KeyboardQuestion) async throws -> [Secret]?)?

    /// Tells the person what to do beside all this, such as to touch a security key.
    public var tell: (@Sendable (String) -> Void)?

    /// Nobody to ask.
    public init() {}
}

/// The key of an unknown host, which a person compares with one that they know.
public struct HostKeyQuestion: Sendable {
    /// The name under which the key would be known.
    public let name: KnownHostName
    /// The address that was connected to.
    public let address: String
    /// The key, with its type and fingerprint.
    public let key: HostKey
    /// Lines that could not be read, and may be about the host.
    public let problems: [KnownHostsProblem]
}

/// What a person decides about the key of an unknown host.
public enum HostKeyDecision: Sendable, Hashable {
    /// Accept it, and add it to the known hosts.
    case add
    /// Do not connect.
    case refuse
}

/// Questions that a host asks for authentication, such as for a password and a code. The texts come from the host.
public struct KeyboardQuestion: Sendable {
    /// `user@host`.
    public let account: String
    /// A title, often empty.
    public let name: String
    /// What is to be done, often empty.
    public let instruction: String
    /// The questions.
    public let prompts: [Prompt]

    /// One question.
    public struct Prompt: Sendable, Hashable {
        /// Its words.
        public let text: String
        /// Whether the answer may be shown while it is typed.
        public let isShown: Bool
    }
}
