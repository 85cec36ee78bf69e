import Capabilities
import JSON
import Registry
import Screens
import TerminalKit

/// The actions that the person has begun here, and what came of them.
struct RunList: Sendable {
    struct Run: Sendable {
        enum State: Sendable {
            case running
            case done(RunResult)
            case failed(AnyFailure)
        }

        let id: RunID
        let action: String
        let title: String
        /// The screen that it was begun on.
        let view: ViewID?
        let begun: Duration
        /// Where its values were entered, while it runs.
        var form: ActionForm?
        var ended: Duration?
        var state = State.running
        var progress: Progress?
        /// What it shows of its work.
        var shown: Block?
        /// The end of the text that it has sent, and what it has said besides.
        var text = ""
        var notices: [String] = []
        /// How many of them came before its last question.
        var noticesBefore = 0

        var isRunning: Bool { ended == nil }
    }

    /// An open question.
    struct Asked: Sendable {
        let id: QuestionID
        let run: RunID
        let question: Question
        /// What the action has said about it.
        let notices: [String]
    }

    /// In the order in which they began.
    private(set) var all: [Run] = []
    private(set) var questions: [Asked] = []
    private var next = 1

    /// How many that have ended are remembered.
    private static let mostEnded = 50
    private static let mostText = 200_000
    private static let mostNotices = 200

    var running: [Run] { all.filter(\.isRunning) }

    mutating func begin(
        _ action: String, _ title: String, on view: ViewID?, at now: Duration, from form: ActionForm? = nil
    ) -> RunID {
        let id = RunID(number: next)
        next += 1
        all.append(Run(id: id, action: action, title: title, view: view, begun: now, form: form))
        let ended = all.filter { !$0.isRunning }
        if ended.count > Self.mostEnded, let oldest = ended.first { all.removeAll { $0.id == oldest.id } }
        return id
    }

    subscript(_ id: RunID) -> Run? { all.first { $0.id == id } }

    mutating func change(_ id: RunID, _ body: (inout Run) -> Void) {
        guard let index = all.firstIndex(where: { $0.id == id }) else { return }
        body(&all[index])
    }

    mutating func append(_ text: String, to id: RunID) {
        change(id) { run in
            run.text += text
            if run.text.utf8.count > 2 * Self.mostText { run.text = String(run.text.suffix(Self.mostText)) }
        }
    }

    mutating func append(notice: String, to id: RunID) {
        change(id) { run in
            run.notices.append(notice)
            let excess = run.notices.count - Self.mostNotices
            guard excess > 0 else { return }
            run.notices.removeFirst(excess)
            run.noticesBefore = max(0, run.noticesBefore - excess)
        }
    }

    /// Keeps a question, with what the action has said since the one before: what it is about.
    mutating func ask(_ id: QuestionID, _ run: RunID, _ question: Question) -> Asked {
        let said = self[run].map { Array($0.notices.dropFirst($0.noticesBefore)) } ?? []
        change(run) { $0.noticesBefore = $0.notices.count }
        let asked = Asked(id: id, run: run, question: question, notices: said)
        questions.append(asked)
        return asked
    }

    mutating func forget(_ id: QuestionID) { questions.removeAll { $0.id == id } }
}

// MARK: What is shown of them

extension RunList {
    /// All of them as a table, the newest first.
    func block(at now: Duration) -> Block {
        let rows = all.reversed().map { run -> JSONObject in
            let state: String
            switch run.state {
            case .running: state = questions.contains { $0.run == run.id } ? "waiting" : "running"
            case .done(let result): state = result.exit == .done ? "done" : "failed"
            case .failed(let failure): state = failure.exit == .interrupted ? "stopped" : "failed"
            }
            return [
                "number": .int(run.id.number), "action": .string(run.title), "state": .string(state),
                "took": .string(((run.ended ?? now) - run.begun).roundedWords),
                "message": .string(run.message),
            ]
        }
        let columns = [
            Schema.Property("number", "Its number", .integer(nil)), Schema.Property("action", "What is done", .string),
            Schema.Property("state", "Its state", .string, role: .state),
            Schema.Property("took", "How long it took", .string),
            Schema.Property("message", "What it says", .string),
        ]
        return Block(
            .table(
                Screens.Table(
                    columns, .all(rows), id: ["number"], empty: "Nothing was done here yet. : lists what can be done.")),
            id: "runs")
    }

    /// The output and the result of one of them.
    func block(of run: Run) -> Block {
        var blocks = [run.shown].compactMap(\.self)
        if !run.text.isEmpty {
            blocks.append(Block(.markdown(MarkdownText(run.text, isOpen: run.isRunning)), id: "text"))
        }
        if !run.notices.isEmpty {
            let text = run.notices.joined(separator: "\n")
            blocks.append(Block(.text(RichText(text, .mutedForeground)), id: "notices"))
        }
        switch run.state {
        case .running where run.shown != nil: break
        case .running: blocks.append(Block(.progress(ProgressBar(run.progress?.activity ?? "running")), id: "progress"))
        case .failed(let failure):
            blocks.append(Block(.placeholder(Placeholder(.failed, failure.message)), id: "failure"))
        case .done(let result): if run.text.isEmpty, run.shown == nil { blocks.append(result.block) }
        }
        return .stack(blocks, id: "run", title: run.title)
    }
}

extension RunList.Run {
    /// What it says now, in a line.
    fileprivate var message: String {
        switch state {
        case .running: progress?.activity ?? notices.last ?? ""
        case .failed(let failure): failure.message
        case .done(let result): notices.last ?? result.line ?? ""
        }
    }
}

extension RunResult {
    /// Whether there is nothing to show.
    var isEmpty: Bool {
        json.isNull || json.string?.isEmpty == true || json.array?.isEmpty == true || json.object?.isEmpty == true
    }

    /// The result as a block.
    var block: Block {
        if let columns = schema.element?.recordMembers {
            let rows = (json.array ?? []).compactMap(\.object)
            return Block(.table(Screens.Table(columns, .all(rows), id: columns.map(\.name))), id: "result")
        }
        if let members = schema.recordMembers, let object = json.object {
            return Block(.values(Values(members, object)), id: "result")
        }
        if let text = json.string { return Block(.code(Code(text)), id: "result") }
        if isEmpty { return Block(.placeholder(Placeholder(.empty, "Done.")), id: "result") }
        return Block(.code(Code(json.text(.pretty), language: "json")), id: "result")
    }
}

extension Schema {
    fileprivate var recordMembers: [Property]? {
        if case .record(let members) = unwrapped { members } else { nil }
    }
}
