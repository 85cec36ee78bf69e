import Capabilities
import FileKit
import JSON
import Registry

/// The actions on the log. Models see none of them.
struct AuditActions {
    let log: AuditStore

    init(_ log: AuditStore) {
        self.log = log
    }

    var all: [Action] { [list, verify, export, seal] }

    private var list: Action {
        Action("audit.list", "List what was done, newest first", .reads, taking: AuditListArguments.self) {
            context, arguments in
            let page = try await log.entries(arguments.query)
            return context.rows(
                page.entries.map(AuditRow.init), of: page.total, on: arguments.query,
                orSay: "nothing was recorded that matches")
        }
        .asDefault()
        .showingConversations()
        .details(
            "Calls of tools that change or send something are recorded before they run, and calls that were denied. The "
                + "outcome is absent while a call runs, and if the program ended before the call did."
        )
        .example("martlet audit list --action tool.call --since 2026-11-01", "The calls of tools since a day")
    }

    private var verify: Action {
        Action(
            "audit.verify", "Check that nobody has changed the log", .reads,
            .option(
                "contains", "Also check that the log contains this entry, as an earlier check printed it",
                as: String?.self)
        ) { context, given in
            let mark = try given.map { try AuditMark($0) }
            var verdict = try await log.verify()
            if let mark, try await !log.contains(mark) {
                verdict.problems.append(
                    AuditProblem(
                        .cut, at: mark.number,
                        "entry \(mark.number) is not the one that was there: the log was replaced by an older copy, or "
                            + "written again"))
            }
            for problem in verdict.problems { context.notice(problem.message) }
            if !verdict.isKeyKnown, verdict.sealedThrough > 0 {
                context.notice(
                    "the seals were not checked, because their key is not there; 'martlet auth secret list' shows whether "
                        + "\(SealKey.name) is in the vault")
            }
            return AuditVerdictRow(verdict: verdict)
        }
        .details(
            "Finds entries that were changed, removed, exchanged or inserted, and a missing end. Exits with 1 if the log "
                + "is not whole, and with 3 if it has seals and their key is not there. Keep the mark that it prints "
                + "somewhere else, and give it to --contains later: only that shows that the whole file was replaced by "
                + "an older copy of it."
        )
        .question("auth.passphrase", "The passphrase of the vault with the key of the seals")
        .example("martlet audit verify", "Check the whole log")
    }

    private var export: Action {
        Action(
            "audit.export", "Print the log as lines of JSON, with what is needed to check it elsewhere", .writes,
            .option("output", "Write to this file instead of printing", as: WritePath?.self)
        ) { context, file in
            let text = try await log.exported()
            guard let file else { return text }
            let path = try context.path(file)
            try path.write(Array(text.utf8))
            return "\(PlainText.escape(path.absolute)) has the log"
        }
        .details(
            "The first line names the log and its end, and each line after it is one entry. docs/AUDIT.md has a program of "
                + "thirty lines that checks them."
        )
        .example("martlet audit export --output audit.ndjson", "Into a file")
    }

    private var seal: Action {
        Action("audit.seal", "Seal the log with a key in the vault, and make the key if there is none", .writes) {
            context in
            let number = try await log.seal()
            return "the log is sealed up to entry \(number)"
        }
        .byName()
        .details(
            "The log seals itself whenever the vault is open. This opens the vault, and makes one if there is none, so it "
                + "may ask for a passphrase."
        )
        .question("auth.passphrase", "The passphrase of the vault")
        .question("auth.new-passphrase", "A passphrase for a new vault; empty to use a key file")
        .question("auth.new-passphrase-again", "The new passphrase again")
    }
}

/// The arguments of `audit.list`.
struct AuditListArguments: ActionArguments {
    private(set) var query = AuditQuery()

    static let bindings =
        [
            bind(\.query.session, .option("session", "Only entries of this session of the gateway")),
            bind(\.query.conversation, .option("conversation", "Only entries of this conversation")),
            bind(\.query.project, .option("project", "Only entries of this project, by its id")),
            bind(\.query.actor, .option("actor", "Only what this party did: model, client, gateway or owner")),
            bind(\.query.action, .option("action", "Only this action, such as tool.call")),
            bind(\.query.since, .option("since", "Only entries since this time")),
            bind(\.query.until, .option("until", "Only entries before this time")),
        ] + pages(of: \.query)

    init() {}
}

/// An entry in a list.
struct AuditRow: Record {
    let entry: AuditEntry

    init(_ entry: AuditEntry) {
        self.entry = entry
    }

    static let fields: [Field<AuditRow>] = [
        Field("number", "Number of the entry", .name) { $0.entry.number.map(String.init) ?? "" },
        Field("time", "When it was recorded") { $0.entry.time },
        Field("actor", "Who did it") { $0.entry.actor },
        Field("action", "What was done") { $0.entry.action },
        Field("source", "Source of the tool", .minor) { $0.entry.source },
        Field("subject", "What it was done to") { $0.entry.subject },
        Field("decision", "Decision about it, and who made it") { $0.entry.decision },
        Field("rule", "Rule that decided", .minor) { $0.entry.rule },
        Field("outcome", "How it ended", .state) { $0.entry.outcome },
        Field("project", "Project", .minor) { $0.entry.project },
        Field("session", "Session of the gateway", .minor) { $0.entry.session },
        Field("conversation", "Conversation", .minor) { $0.entry.conversation },
        Field("origin", "Log from which it was taken over", .minor) { $0.entry.origin },
        Field("detail", "More details", .detail) { $0.entry.detail },
    ]
}

/// An entry, as `audit.verify` prints the newest one: its number and its digest.
struct AuditMark {
    let number: Int
    let digest: String

    var text: String { "\(number):\(digest)" }

    init(number: Int, digest: String) {
        (self.number, self.digest) = (number, digest)
    }

    /// - Throws: `AuditError` `.mark` for another text.
    init(_ text: String) throws(AuditError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int(parts[0]), Hexadecimal.decode(String(parts[1]))?.count == 32 else {
            throw AuditError.mark
        }
        self.init(number: number, digest: parts[1].lowercased())
    }
}

/// What a check found, and the exit code that follows from it.
struct AuditVerdictRow: Record {
    let verdict: AuditVerdict

    /// A log of which the seals could not be checked must not look as if they had been.
    var exit: ExitCode {
        if !verdict.problems.isEmpty { return .failed }
        return verdict.sealedThrough > 0 && !verdict.isKeyKnown ? .denied : .done
    }

    enum State: String, Choice { case whole, broken, unchecked }

    static let fields: [Field<AuditVerdictRow>] = [
        Field("state", "whole, broken, or unchecked if the key of the seals is not there", .state) { row in
            switch row.exit {
            case .done: State.whole
            case .denied: State.unchecked
            default: State.broken
            }
        },
        Field("entries", "Number of entries, with those that say how others ended") { $0.verdict.entries },
        Field("sealed_through", "The seals cover all entries up to this one; absent without seals") { row in
            row.verdict.sealedThrough > 0 ? row.verdict.sealedThrough : nil
        },
        Field("unsealed", "Entries that were written while the vault was closed; later seals cover them") { row in
            row.verdict.unsealed.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        },
        Field("erased", "Number of entries of which the content was removed with its conversation") {
            $0.verdict.erased
        },
        Field("mark", "The newest entry, for --contains later") { row in
            row.verdict.newest > 0 ? AuditMark(number: row.verdict.newest, digest: row.verdict.digest).text : nil
        },
        Field("problems", "What differs from what was written") { $0.verdict.problems.map(AuditProblemRow.init) },
    ]
}

/// A finding, with where it is.
struct AuditProblemRow: Record {
    let problem: AuditProblem

    init(_ problem: AuditProblem) {
        self.problem = problem
    }

    static let fields: [Field<AuditProblemRow>] = [
        Field("kind", "What was done: changed, removed, cut, seal or erased", .state) { $0.problem.kind },
        Field("number", "First entry concerned") { $0.problem.number },
        Field("message", "What differs") { $0.problem.message },
    ]
}
