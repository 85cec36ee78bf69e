import Capabilities
import JSON
import Registry
import Synchronization

/// Passes on what an action says while it runs, and lets the journal keep it.
final class StepOutput: ActionOutput {
    private let key: String
    private let engine: RunEngine
    /// An action gives a notice without waiting; it is told with what comes next.
    private let notices = Mutex<[String]>([])

    init(key: String, engine: RunEngine) {
        self.key = key
        self.engine = engine
    }

    func event(_ event: ActionEvent) async throws {
        await flush()
        let clean = ActionEvent(
            event.type, engine.redactor.redact(event.fields), text: event.text.map(engine.redactor.redact),
            format: event.format)
        engine.journal.note(clean.json, of: key, at: engine.now())
        await engine.emit(.output(step: key, clean))
    }

    // A run shows its steps; how far one of them has come is for whoever runs that action alone.
    func progress(_ progress: Progress) {}

    func notice(_ text: String) {
        let text = engine.redactor.redact(text)
        engine.journal.note(["type": "notice", "text": .string(text)], of: key, at: engine.now())
        notices.withLock { $0.append(text) }
    }

    func flush() async {
        let told = notices.withLock { notices in
            defer { notices = [] }
            return notices
        }
        for notice in told { await engine.emit(.notice(step: key, notice)) }
    }
}
