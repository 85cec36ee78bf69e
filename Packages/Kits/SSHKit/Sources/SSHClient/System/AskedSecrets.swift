import Capabilities
import FileKit
import Glibc
import LoopKit
import SSHCore
import Synchronization

/// Answers the questions of the system's ssh. It asks a program for each (SSH_ASKPASS), here a script that passes the question to
/// this process and the answer back, by pipes in a folder for this user alone.
final class AskedSecrets: Sendable {
    /// Makes a pipe for the answer, tells what it is, and prints what arrives there.
    private static let script = """
        #!/bin/sh
        answer="$0.$$"
        mkfifo -m 600 "$answer" || exit 1
        exec 3<>"$answer"
        printf '%s\\n%s\\n%s\\0' "$$" "$SSH_ASKPASS_PROMPT" "$1" > "$0.questions"
        IFS= read -r line <&3
        rm -f "$answer"
        case $line in
        +*) printf '%s\\n' "${line#+}" ;;
        *) exit 1 ;;
        esac

        """
    /// What the pipe gets when the user is accepted.
    private static let accepted = "accepted"
    private static let longest = 1 << 16

    private let path: String
    private let questions: SSHQuestions
    private let settings: SSHSettings
    private let pipe: LoopDescriptor
    private let state = Mutex((refusal: SSHError?.none, isAsking: false, hasAsked: false))

    /// Fulfilled when the user is accepted.
    let isAccepted = Promise<Void>()
    /// Why a question was not answered, if that is what went wrong.
    var refusal: SSHError? { state.withLock { $0.refusal } }

    /// Whether a question was open at some time since the last call.
    func hasAsked() -> Bool {
        state.withLock { state in
            defer { state.hasAsked = state.isAsking }
            return state.hasAsked
        }
    }

    init(in folder: PrivateFolder, _ configuration: SSHConfiguration, _ settings: SSHSettings) throws {
        path = folder.file("ask")
        questions = configuration.questions
        self.settings = settings
        try Files.writeAtomically(Array(Self.script.utf8), to: path, mode: 0o700)
        let pipe =
            unsafe mkfifo("\(path).questions", 0o600) == 0
            // Also for writing, so that it does not end with the first writer.
            ? unsafe open("\(path).questions", O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1
        guard pipe >= 0 else {
            throw SSHError(
                .systemFailed, "no pipe can be made for the questions of ssh: \(SystemError(errno))")
        }
        self.pipe = try LoopDescriptor(owning: pipe, loop: configuration.loop)
    }

    /// Variables that make ssh ask here.
    var variables: [String: String] { ["SSH_ASKPASS": path, "SSH_ASKPASS_REQUIRE": "force", "SHELL": "/bin/sh"] }
    /// What ssh runs on this machine when the user is accepted.
    var acceptedCommand: String { "printf '\(Self.accepted)\\0' > '\(path).questions'" }

    /// Answers until it is cancelled.
    func serve() async throws {
        var held: [UInt8] = []
        while true {
            var piece = [UInt8](repeating: 0, count: 4_096)
            let attempt = pipe.attempt(.readable) { descriptor in
                unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            }
            switch attempt {
            case .moved(let count):
                held += piece.prefix(count)
                guard held.count < Self.longest else { throw SSHError(.systemFailed, "a question of ssh is too long") }
                while let end = held.firstIndex(of: 0) {
                    try await take(String(decoding: held[..<end], as: UTF8.self))
                    held.removeFirst(end + 1)
                }
            case .wouldBlock: _ = try await pipe.readable()
            case .failed, .closed: return
            }
        }
    }

    private func take(_ message: String) async throws {
        if message == Self.accepted { return isAccepted.settle(()) }
        let parts = message.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let process = pid_t(parts[0]) else { return }
        state.withLock { state in (state.isAsking, state.hasAsked) = (true, true) }
        defer { state.withLock { $0.isAsking = false } }
        let answer = try await answer(String(parts[2]), kind: String(parts[1]))
        try give(answer, to: process)
    }

    /// The answer to a question; nil for none.
    private func answer(_ prompt: String, kind: String) async throws -> Secret? {
        let text = prompt.trimmed
        // A key of a host that ssh connects through, which has settings of its own.
        if kind == "confirm" || text.contains("(yes/no") {
            let name = text.quoted ?? "a host on the way"
            state.withLock {
                $0.refusal = SSHError(
                    .unknownHost,
                    "\(PlainText.escape(name, limit: 120)), through which the settings lead, is not a known host; accept its key "
                        + "first with: martlet ssh trust HOST")
            }
            return nil
        }
        if kind == "none" {
            questions.tell?(PlainText.escape(text, limit: 300))
            return nil
        }
        if text.hasPrefix("Enter passphrase for"), let file = text.quoted {
            return try await questions.passphrase?(file)
        }
        if text.hasSuffix("'s password") || text.hasSuffix("'s password:") {
            return try await questions.password?("\(settings.user)@\(settings.hostName)")
        }
        let question = KeyboardQuestion(
            account: "\(settings.user)@\(settings.hostName)", name: "", instruction: "",
            prompts: [KeyboardQuestion.Prompt(text: text, isShown: false)])
        return try await questions.answers?(question)?.first
    }

    private func give(_ answer: Secret?, to process: pid_t) throws {
        let descriptor = unsafe open("\(path).\(process)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        // ssh has ended meanwhile.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var line = [UInt8(ascii: "-")]
        answer?.withText { text in
            // A line is what the pipe takes at once.
            if !text.utf8.contains(10), text.utf8.count < 4_000 { line = [UInt8(ascii: "+")] + Array(text.utf8) }
        }
        line.append(10)
        _ = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        for index in line.indices { line[index] = 0 }
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return String(text)
    }

    /// What stands between the first two quotes.
    fileprivate var quoted: String? {
        guard let start = firstIndex(of: "'") else { return nil }
        let rest = self[index(after: start)...]
        return rest.firstIndex(of: "'").map { String(rest[..<$0]) }
    }
}
