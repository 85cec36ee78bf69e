import Capabilities
import JSON
import MCPKit
import Registry
import Synchronization

/// The output of an action for an MCP host: progress and notices are told while it runs, and what its events say is a part
/// of the result. Secrets are removed from all of it.
final class ToolOutput: ActionOutput {
    private struct State {
        var text = ""
        var omitted = 0
        var progress = 0.0
        /// When progress was told, as far as that limits what is told next.
        var told: [ContinuousClock.Instant] = []
        var pictures: [Attachment] = []
    }

    private let context: MCPCallContext
    private let redactor: Redactor
    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: the most bytes of text that are kept.
    init(_ context: MCPCallContext, _ redactor: Redactor, limit: ByteCount) {
        self.context = context
        self.redactor = redactor
        self.limit = limit.bytes
    }

    /// The text of all events; nil if they had none.
    var text: String? {
        let (text, omitted) = state.withLock { ($0.text, $0.omitted) }
        if text.isEmpty { return nil }
        return redactor.redact(text) + (omitted == 0 ? "" : "\n[\(ByteCount(omitted).words) more]")
    }

    /// The pictures of all events.
    var pictures: [Attachment] { state.withLock { $0.pictures } }

    func event(_ event: ActionEvent) async throws {
        let picture = Picture(event)
        state.withLock { state in
            if let picture, state.pictures.reduce(picture.bytes.count, { $0 + $1.bytes.count }) <= limit {
                state.pictures.append(
                    Attachment(name: picture.name, mediaType: picture.mediaType, bytes: picture.bytes))
            }
            guard let text = event.text else { return }
            if event == .clear || state.text.utf8.count + text.utf8.count <= limit {
                state.text += text
            } else {
                state.omitted += text.utf8.count
            }
        }
    }

    /// The most progress that is told in a time: an action may count what it does a million times a second.
    private static let mostTold = (count: 20, within: Duration.milliseconds(200))

    func progress(_ progress: Progress) {
        let now = ContinuousClock.now
        let told = state.withLock { state -> (Double, Double?)? in
            state.told.removeAll { now - $0 > Self.mostTold.within }
            guard state.told.count < Self.mostTold.count else { return nil }
            state.told.append(now)
            // A host is told only values that grow, and an action may count again for each of its parts.
            if let completed = progress.completed.map(Double.init), completed > state.progress {
                state.progress = completed
                return (completed, progress.total.map(Double.init).flatMap { $0 < completed ? nil : $0 })
            }
            state.progress += 1
            return (state.progress, nil)
        }
        guard let (value, total) = told else { return }
        context.progress(value, of: total, message: redactor.redact(progress.activity))
    }

    func notice(_ text: String) {
        context.log(.notice, logger: "martlet", .string(redactor.redact(text)))
    }
}
