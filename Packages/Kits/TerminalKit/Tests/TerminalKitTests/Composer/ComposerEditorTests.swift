import Testing

@testable import TerminalKit

@Suite struct ComposerEditorTests {
    @Test(
        "Keys edit as in a shell",
        arguments: [
            ("abc", "abc|"), ("abc\u{1B}[D\u{1B}[Dx", "ax|bc"), ("abc\u{7F}", "ab|"), ("abc\u{01}\u{04}", "|bc"),
            ("abc\u{01}x", "x|abc"),
            ("one two\u{17}", "one |"), ("one two\u{17}\u{19}\u{19}", "one twotwo|"), ("one two\u{1B}b\u{0B}", "one |"),
            ("one two\u{01}\u{1B}f\u{15}", "| two"), ("one\u{1B}[D\u{05}s", "ones|"), ("a\nb\u{01}\u{7F}", "a|b"),
            ("a\nbc\u{15}", "a\n|"), ("a\nbc\u{15}\u{15}", "a|"), ("a\nb\u{1B}[A\u{0B}", "a|b"),
            ("one-two\u{1B}\u{7F}", "one-|"), ("a.b\u{17}", "|"), ("word\u{01}\u{1B}d", "|"), ("é\u{7F}", "|"),
            ("a👨‍👩‍👧‍👦\u{7F}", "a|"), ("a👨‍👩‍👧‍👦\u{1B}[Db", "ab|👨‍👩‍👧‍👦"), ("e\u{301}\u{1B}[D", "|e\u{301}"),
            ("🇩🇪\u{7F}", "|"), ("\u{1B}[Aa\u{1B}[B", "a|"),
        ])
    func editing(keys: String, expected: String) {
        #expect(typed(keys).editor.marked == expected)
    }

    @Test("Scalars of a cluster may arrive alone and become one character with their neighbours")
    func clusters() {
        #expect(typed("👍\u{1F3FD}").editor.edited.characters.count == 1)
        #expect(typed("e👍\u{01}\u{1B}[C\u{301}").editor.marked == "e\u{301}|👍")
        #expect(typed("\u{301}\u{01}e").editor.edited.characters.count == 1)
    }

    private static let long = (1...2_000).map { "line \($0)" }.joined(separator: "\n")

    @Test("A long paste is one character to edit, and its text is returned")
    func longPaste() {
        var editor = typed("see: ").editor
        _ = editor.receive(.paste(Self.long))
        #expect(editor.edited.characters.count == 6)
        #expect(editor.edited.characters.last.flatMap(editor.edited.label) == "[Pasted text, 2,000 lines]")
        for key in keys("\u{301}!") { _ = editor.receive(key) }
        #expect(editor.text == "see: \(Self.long)\u{301}!")
        #expect(editor.edited.byteCount == editor.text.utf8.count)
        for key in keys("\u{7F}\u{7F}\u{7F}x") { _ = editor.receive(key) }
        #expect(editor.text == "see: x")
        #expect(editor.edited.byteCount == 6)
    }

    @Test("A word before the cursor is replaced, also beside a long paste, and nothing is lost if there is no room")
    func replacing() {
        var field = ComposerField("see @a now")
        for _ in 0..<4 { _ = field.receive(.key(KeyPress(.left))) }
        #expect(field.aroundCursor == ("see @a", " now"))
        field.replace(last: 2, with: "@abc\u{1B}")
        #expect(field.aroundCursor.before.hasPrefix("see @abc") && !field.text.contains("\u{1B}"))
        field = ComposerField()
        _ = field.receive(.paste(Paste(text: Self.long)))
        field.insert("@a")
        #expect(field.aroundCursor.before.count == 3 && field.aroundCursor.after.isEmpty)
        field.replace(last: 2, with: "@b")
        #expect(field.text == Self.long + "@b")
        field.replace(last: 2, with: String(repeating: "x", count: Composer.limit))
        #expect(field.text == Self.long + "@b")
    }

    @Test("Two long pastes stay separate, and deleted ones can be restored")
    func twoLongPastes() {
        var editor = ComposerEditor()
        let other = Self.long.replacing("line", with: "row")
        _ = editor.receive(.paste(Self.long))
        _ = editor.receive(.text(" "))
        _ = editor.receive(.paste(other))
        #expect(editor.text == Self.long + " " + other)
        for key in keys("\u{01}\u{0B}") { _ = editor.receive(key) }
        #expect(editor.text.isEmpty)
        _ = editor.receive(.yank)
        #expect(editor.text == Self.long + " " + other)
        _ = editor.receive(.paste("short\nwith \u{FFFC} in it"))
        #expect(editor.text.hasSuffix("short\nwith \u{FFFD} in it"))
    }

    @Test("A very long text of the history is folded too, and a shorter one can be edited")
    func longHistory() {
        let short = (1...30).map(String.init).joined(separator: "\n")
        var editor = ComposerEditor(history: [short, Self.long])
        _ = editor.receive(.up)
        #expect(editor.edited.characters.count == 1 && editor.text == Self.long)
        _ = editor.receive(.up)
        #expect(editor.edited.characters.count == short.count)
    }

    @Test("Ctrl-Z stops the job, and the text stays")
    func suspended() {
        let result = typed("half\u{1A}")
        #expect(result.step == .suspended)
        #expect(result.editor.text == "half")
    }

    @Test(
        "Return submits, but not after a backslash, and other keys start a new line",
        arguments: [
            ("a\r", ComposerEditor.Step.submitted, "a"), ("a\\\r", .unfinished, "a\n"),
            ("a\\\\\r", .submitted, "a\\\\"),
            ("a\\b\r", .submitted, "a\\b"), ("a\n\r", .submitted, "a\n"), ("a\u{1B}\r", .unfinished, "a\n"),
            ("\u{1B}[200~a\rb\r\u{1B}[201~", .unfinished, "a\nb\n"), ("\r", .submitted, ""),
            ("\\\u{1B}[D\r", .submitted, "\\"),
        ])
    func lines(keys: String, step: ComposerEditor.Step, text: String) {
        let result = typed(keys)
        #expect(result.step == step)
        #expect(result.editor.text == text)
    }

    @Test("Ctrl-D ends only an empty text; Ctrl-C clears the text, and ends when pressed again")
    func ends() {
        #expect(typed("\u{04}").step == .ended)
        #expect(typed("a\u{04}").step == .unfinished)
        let cleared = typed("a\nb\u{03}")
        #expect(cleared.step == .unfinished && cleared.editor.text.isEmpty)
        #expect(cleared.editor.hint == .message("press Ctrl-C again to quit"))
        #expect(typed("a\nb\u{03}\u{19}").editor.text == "a\nb")
        #expect(typed("a\u{03}\u{03}").step == .interrupted)
        #expect(typed("\u{03}\u{03}").step == .interrupted)
        #expect(typed("\u{03}b\u{03}").step == .unfinished)
        #expect(typed("a\u{0C}").step == .cleared)
    }

    @Test("Up and Down move within the text first, in the same column, and keep the current text")
    func vertical() {
        #expect(typed("漢字ab\ncde\nx\u{1B}[A\u{05}\u{1B}[A").editor.marked == "漢|字ab\ncde\nx")
        #expect(typed("abcd\nef\u{1B}[D\u{1B}[A").editor.marked == "a|bcd\nef")
        let history = ["first", "second", "second"]
        let up = "\u{1B}[A"
        let down = "\u{1B}[B"
        #expect(typed("draft" + up, history: history).editor.text == "second")
        #expect(typed("draft" + up + up + up, history: history).editor.text == "first")
        #expect(typed("draft" + up + up + down + down + down, history: history).editor.text == "draft")
        #expect(typed(up + "!" + up + down, history: history).editor.text == "second!")
        #expect(typed(up + "\u{03}" + up, history: history).editor.text == "second")
        #expect(typed(up, history: ["\u{1B}[2Jx"]).editor.text == "␛[2Jx")
    }

    @Test(
        "Ctrl-R finds the newest text with the words, then older ones, and restores the earlier text",
        arguments: [
            ("\u{12}FIX", "fix again", true), ("\u{12}fix\u{12}", "Fix the test", true),
            ("\u{12}fix\u{12}\u{12}", "Fix the test", true), ("draft\u{12}zzz", "draft", true),
            ("\u{12}fix\u{12}\u{7F}", "fix again", true), ("draft\u{12}fix\u{07}", "draft", false),
            ("draft\u{12}fix\u{03}", "draft", false), ("\u{12}fix\u{1B}[D!", "fix agai!n", false),
            ("\u{12}fix\u{1B}", "fix again", true), ("\u{12}\u{12}", "", true),
        ])
    func search(keys: String, text: String, isSearching: Bool) {
        let editor = typed(keys, history: ["Fix the test", "other", "fix again", "last"]).editor
        #expect(editor.text == text)
        #expect((editor.search != nil) == isSearching)
    }

    @Test("Return submits the match, and a search without a match says so")
    func searchEnds() {
        let found = typed("\u{12}oth\r", history: ["other", "last"])
        #expect(found.step == .submitted && found.editor.text == "other")
        #expect(typed("\u{12}zzz", history: ["other"]).editor.search?.hasFailed == true)
        #expect(typed("\u{12}othz\u{7F}", history: ["other"]).editor.search?.hasFailed == false)
    }

    @Test(
        "Tab completes words that begin with a slash",
        arguments: [
            ("/he\t", "/help |", ComposerEditor.Hint.none), ("/mo\t", "/model|", .none),
            ("/model\t", "/model|", .words(["/model", "/models"])), ("/mo\ts\t", "/models |", .none),
            ("/x\t", "/x|", .none), ("he\t", "he|", .none), ("say /he\t", "say /help |", .none), ("\t", "|", .none),
            ("/help \t", "/help |", .none), ("/model\t\u{7F}", "/mode|", .none),
            ("/he x\u{01}\u{1B}[C\u{1B}[C\u{1B}[C\t", "/help| x", .none),
        ])
    func completion(keys: String, expected: String, hint: ComposerEditor.Hint) {
        let editor = typed(keys, completions: ["/models", "/model", "/help", "no"]).editor
        #expect(editor.marked == expected)
        #expect(editor.hint == hint)
    }

    @Test(
        "Tab completes the argument of a command once the command is complete",
        arguments: [
            ("/at\t", "/attach |", ComposerEditor.Hint.none), ("/attach R\t", "/attach README.md |", .none),
            ("/attach \t", "/attach |", .words(["/attach README.md", "/attach notes of may.txt"])),
            ("/attach notes o\t", "/attach notes of may.txt |", .none), ("/attach x\t", "/attach x|", .none),
            ("send /attach R\t", "send /attach R|", .none),
        ])
    func arguments(keys: String, expected: String, hint: ComposerEditor.Hint) {
        let words = ["/attach", "/help", "/attach README.md", "/attach notes of may.txt"]
        let editor = typed(keys, completions: words).editor
        #expect(editor.marked == expected)
        #expect(editor.hint == hint)
    }

    @Test(
        "Tab completes files after @, anywhere in a text",
        arguments: [
            ("see @no\t", "see @notes.md |", ComposerEditor.Hint.none), ("@\"a\t", "@\"a b.txt\" |", .none),
            ("@\t", "@|", .words(["@\"a b.txt\"", "@notes.md"])), ("ada@no\t", "ada@no|", .none),
        ])
    func files(keys: String, expected: String, hint: ComposerEditor.Hint) {
        let editor = typed(keys, completions: ["/help", "@notes.md", "@\"a b.txt\"", "notes"]).editor
        #expect(editor.marked == expected && editor.hint == hint)
    }

    @Test("A long paste is one character of what is seen, and a short one is itself")
    func seen() {
        var editor = ComposerEditor()
        _ = editor.receive(.paste("short "))
        let long = "!" + String(repeating: "@line\n", count: 40)
        _ = editor.receive(.paste(long))
        #expect(editor.edited.seen.hasPrefix("short ") && editor.edited.seen.count == 7)
        #expect(editor.text == "short " + long)
    }
}
