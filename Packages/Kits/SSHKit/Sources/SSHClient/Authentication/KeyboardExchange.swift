import CSSHClient
import Capabilities
import LoopKit
import Synchronization

/// Answers the questions of a host. libssh2 wants the answers at once, so its thread waits here until a task has them.
final class KeyboardExchange: Sendable {
    typealias Asking = @Sendable (KeyboardQuestion) async throws -> [Secret]?

    private static let longest = 4_096
    private static let mostPrompts = 100

    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
        var answers: [Secret]?
        var isDeclined = false
        var failure: (any Error)?
    }

    private let account: String
    private let ask: Asking
    private let state = Mutex(State())

    init(account: String, _ ask: @escaping Asking) {
        self.account = account
        self.ask = ask
    }

    /// Whether the person gave no answers.
    var isDeclined: Bool { state.withLock { $0.isDeclined } }

    /// Throws what the question has thrown.
    func rethrow() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Ends the question.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Blocks the thread until the question is answered. Nil if it is not.
    private func answers(to question: KeyboardQuestion) -> [Secret]? {
        let done = ThreadBell()
        // This thread waits for it, and `cancel` cancels it.
        let task = Task { [self] in
            do {
                let answers = try await ask(question)
                state.withLock { state in (state.answers, state.isDeclined) = (answers, answers == nil) }
            } catch {
                state.withLock { state in (state.answers, state.failure) = (nil, error) }
            }
            done.ring()
        }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        done.wait()
        return state.withLock { state in
            defer { state.answers = nil }
            return state.answers
        }
    }

    /// What libssh2 calls. Without answers, empty ones are sent.
    static let respond:
        @convention(c) (
            UnsafePointer<CChar>?, Int32, UnsafePointer<CChar>?, Int32, Int32,
            UnsafePointer<LIBSSH2_USERAUTH_KBDINT_PROMPT>?, UnsafeMutablePointer<LIBSSH2_USERAUTH_KBDINT_RESPONSE>?,
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> Void = { name, nameCount, instruction, instructionCount, count, prompts, responses, context in
            guard let pointer = unsafe context?.pointee,
                let exchange = unsafe Unmanaged<SSHTransport>.fromOpaque(pointer).takeUnretainedValue().keyboard
            else { return }
            var asked: [KeyboardQuestion.Prompt] = []
            if let prompts = unsafe prompts {
                for index in 0..<min(max(Int(count), 0), KeyboardExchange.mostPrompts) {
                    let text = unsafe KeyboardExchange.text(prompts[index].text, Int(prompts[index].length))
                    asked.append(KeyboardQuestion.Prompt(text: text, isShown: unsafe prompts[index].echo != 0))
                }
            }
            let question = KeyboardQuestion(
                account: exchange.account, name: unsafe KeyboardExchange.text(name, Int(nameCount)),
                instruction: unsafe KeyboardExchange.text(instruction, Int(instructionCount)), prompts: asked)
            // Many hosts end with a request without any question.
            guard !asked.isEmpty, let responses = unsafe responses,
                let answers = exchange.answers(to: question), answers.count == asked.count
            else { return }
            for (index, answer) in answers.enumerated() {
                answer.withText { text in
                    let bytes = Array(text.utf8)
                    let copy = unsafe bytes.withUnsafeBytes { bytes in
                        unsafe bytes.baseAddress.flatMap { unsafe sshclient_copy($0, bytes.count) }
                    }
                    guard let copy = unsafe copy else { return }
                    unsafe responses[index].text = unsafe copy.assumingMemoryBound(to: CChar.self)
                    unsafe responses[index].length = UInt32(bytes.count)
                }
            }
        }

    private static func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        guard let start = unsafe start, count > 0 else { return "" }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: min(count, longest))
        return unsafe String(decoding: bytes, as: UTF8.self)
    }
}
