import Capabilities
import JSON
import Registry
import Screens
import TerminalKit

/// The number of a screen that the shell has opened, and of an action that it has begun.
struct ViewID: Sendable, Hashable { let number: Int }
struct RunID: Sendable, Hashable { let number: Int }

/// What the shell reacts to.
enum ShellEvent: Sendable {
    /// A key, a click, a paste.
    case input(InputEvent)
    case resized(TerminalSize)
    /// The terminal is shown again after something else had it.
    case continued(TerminalSize)
    /// The terminal takes frames again, or is gone.
    case room, gone
    /// A screen shows another value.
    case state(ViewID, ScreenState)
    /// A screen could not be opened.
    case refused(ViewID, AnyFailure)
    /// An action reports progress, shows how its work stands, adds to its text, or says something.
    case progress(RunID, Progress)
    case shown(RunID, Block)
    case text(RunID, String)
    case notice(RunID?, String)
    /// An action asks, or nobody needs to answer any more.
    case question(QuestionID, RunID, Question)
    case withdrawn(QuestionID)
    case ended(RunID, Result<RunResult, AnyFailure>)
    /// An action hands over a picture.
    case picture(RunID, Picture)
    /// A time that the model asked for has come.
    case timer(ShellTimer)
    /// Rows that a table has asked for.
    case rows(ViewID, path: [String], Result<RowSource.Page, AnyFailure>)
    /// What a word may become.
    case completed(CompletionRequest, Result<[OpenWord.Match], AnyFailure>)
    /// The editor has ended, with the text that it left.
    case edited(ViewID, String)
}

/// What an action returned, with the shape of it.
struct RunResult: Sendable {
    let json: JSON
    let schema: Schema
    let exit: ExitCode
    /// The result in one line, without secrets; nil for a longer one.
    var line: String?

    /// A result of one line; nil for a longer one.
    static func line(of json: JSON) -> String? {
        guard let text = json.string, !text.contains(where: \.isNewline), text.count < 200 else { return nil }
        return text
    }
}

/// What the shell waits for.
enum ShellTimer: Sendable, Hashable {
    /// The newest notice has been seen long enough.
    case notice(Int)
    /// The selection has been still long enough for its detail to be opened.
    case detail(Int)
    /// A question counts keys from now on.
    case question(QuestionID)
    /// The clock beside a running action.
    case clock
}

/// What the shell wants done.
enum ShellEffect: Sendable {
    case open(ViewID, screen: String, JSONObject)
    case close(ViewID)
    /// Whether the person sees a screen.
    case see(ViewID, Bool)
    case refresh(ViewID)
    case perform(RunID, action: String, JSONObject)
    /// The same with the files that its text names, as far as they exist.
    case submit(RunID, action: String, JSONObject, MentionedFiles)
    case cancel(RunID)
    /// The answer to a question; nil to decline.
    case answer(QuestionID, Answer?)
    case wait(ShellTimer, Duration)
    case rows(ViewID, path: [String], RowSource, RowSource.Request)
    /// What a word may become.
    case complete(CompletionRequest)
    case copy(String)
    /// Shows a picture in the place of everything else, below a line of text, until it is uncovered.
    case cover(TerminalPicture, caption: String)
    case uncover
    case edit(ViewID, String)
    case ring
    case suspend
    case repaint
    case quit
}
